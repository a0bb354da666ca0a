"""Tests of forge_log.py, in processes that log as the workers of a server do."""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent

# As it is rendered.
LOGGING_CONF = HERE.parent / "testdata" / "logging.conf"

PROCESSES = 4
RECORDS = 30
# The longest records are larger than a pipe.
LENGTHS = (10, 5000, 300, 9000, 4096, 70000)

# What each of the processes does.
WORKER = """
import logging.config, sys
from test_forge_log import RECORDS, text
logging.config.fileConfig(sys.argv[1])
log = logging.getLogger("service.worker")
for number in range(RECORDS):
    log.error("%s", text(int(sys.argv[2]), number))
"""

# The formatter of oslo.log, with the fields that matter.
FORMATTERS = """
import json, logging
class JSONFormatter(logging.Formatter):
    def __init__(self, fmt=None, datefmt=None, style="%"):
        self.datefmt = datefmt
    def format(self, record):
        return json.dumps({
            "message": record.getMessage(), "asctime": self.formatTime(record), "name": record.name, "msg": record.msg,
            "args": record.args, "levelname": record.levelname, "process": record.process, "thread": record.thread})
"""


def text(worker, number):
    """The message of a record."""
    length = LENGTHS[number % len(LENGTHS)]
    return "%d %d %s" % (worker, number, ("\u00fc\n" + "abcdefgh" * length)[:length])


class Records(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        package = pathlib.Path(directory.name) / "oslo_log"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "formatters.py").write_text(FORMATTERS)
        self.environment = {**os.environ, "PYTHONPATH": "%s:%s" % (HERE, directory.name), "PYTHONDONTWRITEBYTECODE": "1"}

    def start(self, output):
        workers = [
            subprocess.Popen(
                [sys.executable, "-S", "-c", WORKER, str(LOGGING_CONF), str(worker)],
                stderr=output,
                env=self.environment,
            )
            for worker in range(PROCESSES)
        ]
        self.addCleanup(lambda: [worker.wait() for worker in workers])
        return {worker.pid: number for number, worker in enumerate(workers)}

    def check(self, lines, workers):
        """Each line is a record, and together they say what was logged."""
        logged = {worker: "" for worker in workers}
        for line in lines:
            record = json.loads(line)
            self.assertEqual((record["name"], record["levelname"]), ("service.worker", "ERROR"))
            logged[record["process"]] += record["message"]
            if record.get("part") == record.get("parts"):
                logged[record["process"]] += "\0"
        for process, messages in logged.items():
            want = [text(workers[process], number) for number in range(RECORDS)]
            # Long fields that say more than the message follow it.
            got = [message.split("\nargs: ")[0] for message in messages.split("\0")[:-1]]
            self.assertEqual(got, want)

    def test_records_of_several_processes_stay_whole_in_a_pipe(self):
        reader, writer = os.pipe()
        workers = self.start(writer)
        os.close(writer)
        with open(reader, "rb") as pipe:
            self.check(list(pipe), workers)

    def test_records_stay_whole_in_what_uwsgi_gives_its_workers(self):
        # create_logpipe() and uwsgi_master_log() of uWSGI, with its default for --log-master-bufsize.
        reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        writer.setblocking(False)
        workers = self.start(writer)
        writer.close()
        output = b""
        while packet := reader.recv(8192):
            output += packet
        reader.close()
        self.check(output.splitlines(), workers)


class Traceback(unittest.TestCase):
    def test_a_long_traceback_follows_the_message(self):
        sys.path.insert(0, str(HERE))
        self.addCleanup(sys.path.remove, str(HERE))
        import forge_log

        frames = ["frame %d of a long way\n" % i for i in range(500)]
        record = {"message": "it failed", "name": "keystone", "levelname": "ERROR", "msg": "it failed", "traceback": frames}
        lines = forge_log.lines(json.dumps(record))
        self.assertGreater(len(lines), 1)
        self.assertLessEqual(max(map(len, lines)), forge_log.LIMIT)
        whole = "".join(json.loads(line)["message"] for line in lines)
        self.assertEqual(whole, "it failed\ntraceback: " + "\n".join(frames))


if __name__ == "__main__":
    unittest.main()
