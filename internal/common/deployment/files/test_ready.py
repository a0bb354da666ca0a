"""Tests of ready.py, with a PyMySQL, workers of uWSGI and an API that answer as each test says."""

import contextlib
import http.server
import io
import pathlib
import re
import socket
import sys
import threading
import types
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("ready.py")
URL = "mysql+pymysql://harbour:s%40cret@db.openstack.svc/harbour?charset=utf8&ssl_ca=/ca.crt&ssl_check_hostname=true"


class Clock:
    """Stands for the module time."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now


class Ready(unittest.TestCase):
    def setUp(self):
        self.driver = types.ModuleType("pymysql")
        self.driver.MySQLError = type("MySQLError", (Exception,), {})
        self.connection = mock.Mock()
        self.connection.cursor().fetchall.return_value = [("crews",), ("piers",), ("ships",), ("visits",)]
        self.connect = self.driver.connect = mock.Mock(return_value=self.connection)
        self.workers = [{"requests": 0}, {"requests": 0}]
        uwsgi = types.ModuleType("uwsgi")
        uwsgi.workers = lambda: self.workers
        self.status, self.answers = 200, threading.Event()
        self.answers.set()
        self.clock = Clock()
        self.module = types.ModuleType("ready")
        source = FILE.read_text(encoding="utf-8")
        constants = {"VARIABLE": "OS_HARBOUR__CONNECTION", "TABLE": "piers", "TABLES": ["piers", "ships", "crews"],
                     "ADDRESS": f"http://127.0.0.1:{self.serve_api()}/v3", "PORT": 0}
        for name, value in {**constants, "DATABASE_SECONDS": 60, "API_SECONDS": 0.1}.items():
            source, count = re.subn(r"(?m)^%s = .*$" % name, "%s = %r" % (name, value), source)
            self.assertEqual(count, 1)
        with mock.patch.dict(sys.modules, pymysql=self.driver, uwsgi=uwsgi):
            exec(compile(source, FILE, "exec"), vars(self.module))
        self.module.time = self.clock
        self.log = self.enterContext(contextlib.redirect_stderr(io.StringIO()))
        self.readiness = self.module.Readiness(self.module.Database(URL), self.module.API(self.module.ADDRESS))

    def serve_api(self):
        """Starts an API that answers when self.answers is set, and returns its port."""
        test = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                test.answers.wait()
                test.path = self.path
                self.send_response(test.status)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(self.answers.set)
        return server.server_address[1]

    def check(self, later=10):
        """Returns the reason of the next probe."""
        self.clock.now += later
        return self.readiness.check()

    def settled(self, reason, attempts=1000):
        """Waits until a probe has the reason. The request to the API may take several to be noticed."""
        for _ in range(attempts):
            if self.check(later=2) == reason:
                return
        self.fail("never %r; the log says %r" % (reason, self.log.getvalue()))

    def test_a_pod_that_can_serve_is_ready(self):
        self.module.API_SECONDS = 60
        self.assertIsNone(self.check())
        self.assertEqual(self.connect.call_args.kwargs["password"], "s@cret")
        self.assertEqual(self.connect.call_args.kwargs["ssl"], {"ca": "/ca.crt", "check_hostname": True})
        read, listed = self.connection.cursor().execute.call_args_list
        self.assertEqual(read, mock.call("SELECT 1 FROM `piers` LIMIT 1"))
        self.assertNotRegex(str(listed), "(?i)count|select [*]|row", "this opens the tables, and waits for a migration of them")
        self.connection.close.assert_called_once_with()
        self.assertEqual(self.path, "/v3")

    def test_a_service_without_a_database_is_ready_if_its_pods_answer(self):
        self.readiness = self.module.Readiness(self.module.NoDatabase(), self.module.API(self.module.ADDRESS))
        self.module.API_SECONDS = 60
        self.assertIsNone(self.check())
        self.status = 500
        self.settled("GET /v3 of this pod failed: it answered 500")
        self.connect.assert_not_called()

    def test_a_refused_login_is_reported_without_what_the_server_said(self):
        self.connect.side_effect = self.driver.MySQLError(1045, "Access denied for s@cret")
        self.assertEqual(self.check(), "No login to the database at db.openstack.svc:3306 (error 1045)")

    def test_a_login_that_fails_in_python_is_reported_by_the_class_of_the_error(self):
        self.connect.side_effect = FileNotFoundError(2, "s@cret")
        self.assertEqual(self.check(), "No login to the database at db.openstack.svc:3306 (error FileNotFoundError)")

    def test_a_database_whose_connections_are_used_up_answers(self):
        for number in (1040, 1203, 1226):
            self.connect.side_effect = self.driver.MySQLError(number, "Too many connections")
            self.assertIsNone(self.check())

    def test_an_error_without_a_number_is_reported_by_its_class(self):
        self.connect.side_effect = self.driver.MySQLError("Unknown packet s@cret")
        self.assertEqual(self.check(), "No login to the database at db.openstack.svc:3306 (error MySQLError)")

    def test_a_database_without_tables_is_reported(self):
        self.connection.cursor().execute.side_effect = self.driver.MySQLError(1146, "Table 'harbour.piers' doesn't exist")
        self.assertEqual(self.check(), "Cannot read table piers of the database at db.openstack.svc:3306 (error 1146)")

    def test_a_lost_table_is_reported_beside_those_that_are_there(self):
        self.connection.cursor().fetchall.return_value = [("piers",), ("visits",)]
        self.assertEqual(self.check(), "No table crews, ships in the database at db.openstack.svc:3306")

    def test_a_list_of_tables_that_cannot_be_read_says_nothing(self):
        self.connection.cursor().fetchall.side_effect = self.driver.MySQLError(1044, "Access denied")
        self.assertIsNone(self.check())

    def test_a_database_that_does_not_answer_is_asked_once_and_reported_in_time(self):
        self.module.DATABASE_SECONDS = 0.2
        answers = threading.Event()
        self.addCleanup(answers.set)
        self.connect.side_effect = lambda **_: answers.wait() and self.connection
        for _ in range(3):
            self.assertRegex(self.check(), "No answer from the database at db.openstack.svc:3306 within")
        self.assertEqual(self.connect.call_count, 1)
        answers.set()
        self.settled(None)

    def test_probes_within_a_second_share_a_login(self):
        for later in (10, 0.4, 0.4):
            self.assertIsNone(self.check(later))
        self.assertEqual(self.connect.call_count, 1)
        self.check(0.4)
        self.assertEqual(self.connect.call_count, 2)

    def test_an_api_that_answers_with_an_error_is_reported(self):
        self.status = 500
        self.settled("GET /v3 of this pod failed: it answered 500")

    def test_an_error_that_takes_long_is_reported_by_a_later_probe(self):
        self.status = 500
        self.answers.clear()
        self.assertIsNone(self.check())
        self.answers.set()
        self.settled("GET /v3 of this pod failed: it answered 500")
        self.answers.clear()
        self.assertEqual(self.check(), "GET /v3 of this pod failed: it answered 500")

    def test_a_check_that_breaks_is_repeated(self):
        with mock.patch.object(threading, "excepthook"), mock.patch.object(self.readiness.api, "look", side_effect=TypeError) as look:
            self.check()
        look.assert_called_once_with()
        self.module.API_SECONDS = 60
        self.settled(None)
        self.assertEqual(self.path, "/v3")

    def test_workers_that_finish_no_request_for_half_a_minute_are_stuck(self):
        self.assertIsNone(self.check())
        self.answers.clear()
        stuck = "GET /v3 of this pod failed: it finished no request for 30 s"
        self.settled(stuck)
        self.assertGreaterEqual(self.clock.now, 1040)
        self.assertEqual(self.check(), stuck)
        self.answers.set()
        self.settled(None)

    def test_workers_that_finish_other_requests_are_busy_and_not_stuck(self):
        self.assertIsNone(self.check())
        self.answers.clear()
        self.check()
        api = self.readiness.api
        for _ in range(20):
            self.clock.now += 20
            self.workers[1]["requests"] += 1
            api.look()
            self.assertIsNone(api.stuck())
        self.clock.now += 30
        self.assertIsNotNone(api.stuck())

    def test_an_api_that_closes_connections_is_stuck_until_it_answers(self):
        with socket.create_server(("127.0.0.1", 0)) as nobody:
            self.readiness.api.port = nobody.getsockname()[1]
        self.assertIsNone(self.check())
        self.settled("GET /v3 of this pod failed: it finished no request for 30 s")

    def test_the_log_has_the_reason_of_each_failed_probe(self):
        refusal = self.driver.MySQLError(2003, "s@cret")
        for error in (None, refusal, refusal, None, None):
            self.connect.side_effect = error
            self.check()
        self.assertEqual(
            self.log.getvalue(), 2 * "not ready: No login to the database at db.openstack.svc:3306 (error 2003)\n" + "ready again\n"
        )

    def test_a_client_gets_the_same_answer_whatever_it_sends(self):
        server = self.module.serve(self.readiness, 0)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        for error, status, body in [(None, b"200 OK", b"ready\n"), (self.driver.MySQLError(1045), b"503 Service Unavailable", None)]:
            self.connect.side_effect = error
            for request in (b"GET / HTTP/1.1\r\nHost: pod\r\n\r\n", b"DELETE /../x HTTP/9\r\n", b"\x16\x03\x01", b"x" * 1000):
                with self.subTest(status=status, request=request[:10]):
                    self.clock.now += 10
                    with socket.create_connection(("127.0.0.1", server.server_address[1])) as client:
                        client.sendall(request)
                        answer = client.makefile("rb").read()
                    self.assertTrue(answer.startswith(b"HTTP/1.1 " + status + b"\r\n"), answer)
                    self.assertTrue(body is None or answer.endswith(b"\r\n\r\n" + body), answer)

    def test_a_client_that_sends_nothing_keeps_nobody_from_an_answer(self):
        server = self.module.serve(self.readiness, 0)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        with contextlib.ExitStack() as stack:
            for _ in range(10):
                stack.enter_context(socket.create_connection(("127.0.0.1", server.server_address[1])))
            with socket.create_connection(("127.0.0.1", server.server_address[1])) as client:
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
                self.assertIn(b"200 OK", client.makefile("rb").read())


if __name__ == "__main__":
    unittest.main()
