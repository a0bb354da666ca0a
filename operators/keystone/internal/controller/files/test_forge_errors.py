"""Tests of forge_errors.py, and of how sitecustomize.py puts it around Keystone's application."""

import contextlib
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

FILES = pathlib.Path(__file__).parent


def module(name):
    spec = importlib.util.spec_from_file_location(name, FILES / (name + ".py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


forge_errors = module("forge_errors")

SECRET = "do-not-tell"


class Answer:
    """What a server sends: uWSGI sends nothing at all when the application raises."""

    def __init__(self, application, environ=None):
        environ = {"REQUEST_METHOD": "POST", "PATH_INFO": "/v3/auth/tokens", **(environ or {})}
        self.starts = []
        self.body = b"".join(forge_errors.answering(application)(environ, self.start))
        (self.status, headers), = self.starts
        self.headers = dict(headers)

    def start(self, status, headers, exc_info=None):
        self.starts.append((status, headers))


class Refused(ConnectionError):
    """Quotes what it was doing, as SQLAlchemy's errors do."""


def failing(error=None):
    raise error or Refused(111, "[parameters: {'password_hash': '%s'}]" % SECRET)


def library(name):
    """Returns a function that raises within the named module."""
    made = types.ModuleType(name)
    exec("def failing(error):\n    raise error", vars(made))
    return made.failing


def log_of(test, application, environ=None):
    with test.assertLogs("forge_errors", "ERROR") as log:
        answer = Answer(application, environ)
    return answer, "\n".join(log.output)


class Exceptions(unittest.TestCase):
    def test_an_exception_is_answered_in_the_way_of_openstack(self):
        answer, _ = log_of(self, lambda environ, start: failing())
        self.assertEqual(answer.status, "500 Internal Server Error")
        self.assertEqual(answer.headers["Content-Type"], "application/json")
        self.assertEqual(answer.headers["Content-Length"], str(len(answer.body)))
        self.assertEqual(json.loads(answer.body), {"error": {
            "code": 500, "title": "Internal Server Error",
            "message": "An unexpected error prevented the server from fulfilling your request.",
        }})

    def test_an_exception_after_the_answer_has_begun_is_answered_too(self):
        def started(environ, start):
            start("200 OK", [("Content-Length", "2")])
            failing()

        def half(environ, start):
            start("200 OK", [("Content-Length", "2")])
            yield b"{"
            failing()

        for application in (started, half):
            answer, _ = log_of(self, application)
            self.assertEqual(answer.status, "500 Internal Server Error")
            self.assertIn(b"unexpected error", answer.body)

    def test_it_is_logged_with_the_place_and_without_what_it_quotes(self):
        answer, log = log_of(self, lambda environ, start: failing(), {"openstack.request_id": "req-1"})
        for part in ("POST /v3/auth/tokens", "req-1", "Refused 111", "in failing", pathlib.Path(__file__).name):
            self.assertIn(part, log)
        self.assertNotIn(SECRET, log)
        self.assertNotIn(SECRET.encode(), answer.body)
        self.assertEqual(answer.headers["x-openstack-request-id"], "req-1")

    def test_the_cause_of_an_exception_is_logged_likewise(self):
        def chained(environ, start):
            try:
                failing()
            except Refused as error:
                raise ValueError(SECRET) from error

        _, log = log_of(self, chained)
        self.assertIn("Refused 111", log)
        self.assertIn("ValueError", log)
        self.assertNotIn(SECRET, log)

    def test_the_answer_names_the_part_that_failed(self):
        for name, part in {
            "pymysql.connections": "database", "sqlalchemy.engine.base": "database", "oslo_db.sqlalchemy.engines": "database",
            "dogpile.cache.region": "cache", "pymemcache.client.base": "cache",
            "cryptography.fernet": "keys", "keystone.common.fernet_utils": "keys",
        }.items():
            with self.subTest(name):
                raising = library(name)
                answer, _ = log_of(self, lambda environ, start: raising(ValueError()))
                self.assertEqual(answer.headers["X-Forge-Failed-Part"], part)
        for name in ("keystone.auth.core", "pymysqlike"):
            raising = library(name)
            answer, _ = log_of(self, lambda environ, start: raising(ValueError()))
            self.assertNotIn("X-Forge-Failed-Part", answer.headers)

    def test_the_innermost_part_is_the_one_that_failed(self):
        raising = library("pymysql")
        outer = types.ModuleType("dogpile.cache.region")
        vars(outer)["inner"] = raising
        exec("def call(error):\n    inner(error)", vars(outer))
        answer, _ = log_of(self, lambda environ, start: outer.call(ValueError()))
        self.assertEqual(answer.headers["X-Forge-Failed-Part"], "database")

    def test_a_process_that_is_told_to_end_ends(self):
        with self.assertRaises(SystemExit):
            Answer(lambda environ, start: sys.exit(1))


class Answers(unittest.TestCase):
    def test_an_answer_passes_as_it_is(self):
        closed = []

        class Body(list):
            def close(self):
                closed.append(True)

        def fine(environ, start):
            start("200 OK", [("Content-Type", "text/plain")])(b"written ")
            return Body([b"and ", b"returned"])

        answer = Answer(fine)
        self.assertEqual((answer.status, answer.headers, answer.body), ("200 OK", {"Content-Type": "text/plain"}, b"written and returned"))
        self.assertEqual(closed, [True])

    def test_an_answer_without_the_cache_says_so(self):
        def fine(environ, start):
            start("201 Created", [("X-Subject-Token", "t")])
            return []

        guard = types.ModuleType("forge_cache")
        with mock.patch.dict(sys.modules, forge_cache=guard):
            guard.OUTAGE = types.SimpleNamespace(lasts=lambda: False)
            self.assertEqual(Answer(fine).headers, {"X-Subject-Token": "t"})
            guard.OUTAGE = types.SimpleNamespace(lasts=lambda: True)
            self.assertEqual(Answer(fine).headers, {"X-Subject-Token": "t", "X-Forge-Failed-Part": "cache"})
            # An error is that of another part, or of none.
            answer, _ = log_of(self, lambda environ, start: failing())
            self.assertNotIn("X-Forge-Failed-Part", answer.headers)

    def test_an_answer_says_so_once_however_many_filters_there_are(self):
        guard = types.ModuleType("forge_cache")
        guard.OUTAGE = types.SimpleNamespace(lasts=lambda: True)
        with mock.patch.dict(sys.modules, forge_cache=guard):
            inner = forge_errors.answering(lambda environ, start: start("200 OK", []) and [])
            headers = []
            forge_errors.answering(inner)({}, lambda status, given: headers.extend(given))
        self.assertEqual(headers, [("X-Forge-Failed-Part", "cache")])


ENTRY = """
import forge_start
from keystone.server.wsgi import initialize_public_application
application = initialize_public_application()
print(b"".join(application({"REQUEST_METHOD": "GET", "PATH_INFO": "/v3"}, lambda status, headers: print(status))))
"""


class Start(unittest.TestCase):
    def test_keystones_application_is_wrapped_when_a_process_makes_it(self):
        with tempfile.TemporaryDirectory() as directory, contextlib.ExitStack() as closing:
            package = pathlib.Path(directory, "keystone", "server")
            package.mkdir(parents=True)
            for parent in (package, package.parent):
                closing.enter_context(open(parent / "__init__.py", "w"))
            (package / "wsgi.py").write_text(
                "def initialize_public_application():\n    return lambda environ, start_response: 1 / 0\n")
            run = subprocess.run(
                [sys.executable, "-B", "-c", ENTRY], capture_output=True, text=True,
                env={"PYTHONPATH": "%s:%s" % (FILES, directory)}, check=False)
        self.assertIn("500 Internal Server Error", run.stdout, run.stderr)
        self.assertIn("ZeroDivisionError", run.stderr)


if __name__ == "__main__":
    unittest.main()
