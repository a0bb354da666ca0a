"""Tests of record.py, against a simulated cluster that replays a recording."""

import base64
import http.server
import json
import socketserver
import tempfile
import threading
import time
import unittest

import record

PASSWORD = "s3cret-of-the-database"


def meta(name, **more):
    return {"namespace": "openstack", "name": name, "uid": name, **more}


def pod(restarts=0, **labels):
    running = {"name": "keystone", "restartCount": restarts, "state": {"running": {}}}
    waiting = {"name": "later", "restartCount": 0, "state": {"waiting": {}}}
    return {"metadata": meta("keystone-0", labels=labels), "status": {"containerStatuses": [running, waiting]}}


SECRET = {"metadata": meta("db", annotations={"kubectl.kubernetes.io/last-applied-configuration": f'{{"password": "{PASSWORD}"}}'}),
          "data": {"password": base64.b64encode(PASSWORD.encode()).decode()}}


class Cluster:
    """Answers the first request for each path with the given lines, and later ones with none."""

    def __init__(self, logs=(), **objects):
        self.answers = {f"/api/v1/{kind}?watch=true": [json.dumps({"type": "ADDED", "object": o}).encode() + b"\n" for o in all_]
                        for kind, all_ in objects.items()}
        self.logs = list(logs)
        self.lock = threading.Lock()

    def stream(self, path):
        with self.lock:
            if "/log?" in path:
                return [self.logs.pop(0)] if self.logs else []
            return self.answers.pop(path, [])

    def report(self):
        """Records everything available and returns the report."""
        with tempfile.TemporaryDirectory() as folder:
            recorder = record.Recorder(None, record.Recording(folder))
            recorder.stream = self.stream
            recorder.start()
            deadline = time.monotonic() + 20
            while (self.answers or self.logs) and time.monotonic() < deadline:
                time.sleep(0.01)
            recorder.ended.set()
            for thread in threading.enumerate():
                if thread is not threading.current_thread():
                    thread.join(5)
            lines, fine = recorder.recording.report()
        return [line for line in lines if PASSWORD not in line], fine


class API(http.server.BaseHTTPRequestHandler):
    """Answers like an API server behind kubectl proxy, in chunks that do not end at line breaks."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path != "/here":
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (b"one\ntw", b"o\n", b""):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))

    def log_message(self, *_):
        pass

    def address_string(self):
        return "nobody"


class Stream(unittest.TestCase):
    def test_lines_come_through_the_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/api"
            with socketserver.UnixStreamServer(path, API) as server:
                threading.Thread(target=server.serve_forever, daemon=True).start()
                recorder = record.Recorder(lambda: record.Connection(path), None)
                self.assertEqual(list(recorder.stream("/here")), [b"one\n", b"two\n"])
                self.assertEqual(list(recorder.stream("/gone")), [])
                server.shutdown()


class Record(unittest.TestCase):
    def test_a_run_that_says_nothing_secret_is_fine(self):
        config = {"metadata": meta("config"), "data": {"keystone.conf": "[database]"}}
        lines, fine = Cluster(logs=[b"started\n"], secrets=[SECRET], pods=[pod()], configmaps=[config]).report()
        self.assertEqual((lines, fine), (["0 leaks of Secrets: 1 values of 1 Secrets, 1 logs, 3 versions of objects"], True))

    def test_a_value_in_a_log_is_named_with_its_line(self):
        lines, fine = Cluster(logs=[b"started\nlogin with " + PASSWORD.encode()], secrets=[SECRET], pods=[pod()]).report()
        self.assertFalse(fine)
        self.assertEqual(lines[0], "log of a container, openstack/keystone-0 keystone, line 2: "
                                   "key password of Secret openstack/db, as it is")

    def test_a_value_in_an_object_is_named_with_it(self):
        event = {"metadata": meta("db.1"), "message": f"Access denied for {PASSWORD}"}
        lines, fine = Cluster(logs=[b"started\n"], secrets=[SECRET], pods=[pod()], events=[event]).report()
        self.assertFalse(fine)
        self.assertEqual(lines[0], "events openstack/db.1: key password of Secret openstack/db, as it is")

    def test_each_run_of_a_container_has_a_log(self):
        cluster = Cluster(logs=[b"started\n", PASSWORD.encode()], secrets=[SECRET], pods=[pod(), pod(), pod(restarts=1)])
        lines, fine = cluster.report()
        self.assertFalse(fine)
        self.assertIn("2 logs", lines[-1])

    def test_the_log_of_a_client_is_called_so(self):
        client = pod(**{"app.kubernetes.io/name": "e2e-client"})
        lines, _ = Cluster(logs=[PASSWORD.encode()], secrets=[SECRET], pods=[client]).report()
        self.assertTrue(lines[0].startswith("log of an end-to-end client, openstack/keystone-0 keystone"))

    def test_a_recording_of_nothing_proves_nothing(self):
        lines, fine = Cluster(secrets=[SECRET]).report()
        self.assertEqual((lines, fine), (["there is nothing to search for leaked Secrets: 1 values of 1 Secrets, 0 logs, 1 versions of objects"], False))


if __name__ == "__main__":
    unittest.main()
