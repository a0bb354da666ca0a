"""Tests of ready.py, with a PyMySQL and an API that answer as each test says."""

import contextlib
import io
import os
import pathlib
import re
import sys
import types
import unittest
import urllib.error
from unittest import mock

FILE = pathlib.Path(__file__).with_name("ready.py")
URL = "mysql+pymysql://harbour:s%40cret@db.openstack.svc/harbour?charset=utf8&ssl_ca=/ca.crt&ssl_check_hostname=true"


class Ready(unittest.TestCase):
    def run_script(self, login=None, answer=None):
        """Returns the exit code and what was printed."""
        driver = types.ModuleType("pymysql")
        driver.MySQLError = type("MySQLError", (Exception,), {})
        refusal = login(driver) if login else None
        self.connect = driver.connect = mock.Mock(side_effect=refusal)
        printed = io.StringIO()
        source = FILE.read_text(encoding="utf-8")
        for name, value in {"VARIABLE": "OS_HARBOUR__CONNECTION", "ADDRESS": "http://127.0.0.1:7000/v3"}.items():
            source, count = re.subn(r"(?m)^%s = .*$" % name, "%s = %r" % (name, value), source)
            self.assertEqual(count, 1)
        with mock.patch.dict(sys.modules, pymysql=driver), mock.patch.dict(os.environ, OS_HARBOUR__CONNECTION=URL), \
                mock.patch("urllib.request.OpenerDirector.open", side_effect=answer) as self.ask, contextlib.redirect_stdout(printed):
            try:
                exec(compile(source, FILE, "exec"), {"__name__": "__main__"})
            except SystemExit as end:
                return end.code, printed.getvalue()
        return 0, printed.getvalue()

    def test_a_pod_that_can_serve_says_nothing(self):
        self.assertEqual(self.run_script(), (0, ""))
        self.assertEqual(self.connect.call_args.kwargs["password"], "s@cret")
        self.assertEqual(self.connect.call_args.kwargs["ssl"], {"ca": "/ca.crt", "check_hostname": True})
        self.ask.assert_called_once_with("http://127.0.0.1:7000/v3", timeout=5)

    def test_a_refused_login_is_told_without_the_words_of_the_server(self):
        code, text = self.run_script(login=lambda driver: driver.MySQLError(1045, "Access denied for s@cret"))
        self.assertEqual((code, text), (1, "No login to the database at db.openstack.svc:3306 (error 1045)\n"))
        self.ask.assert_not_called()

    def test_a_login_that_fails_in_python_is_told_by_its_kind(self):
        code, text = self.run_script(login=lambda driver: FileNotFoundError(2, "s@cret"))
        self.assertEqual((code, text), (1, "No login to the database at db.openstack.svc:3306 (error FileNotFoundError)\n"))

    def test_an_api_that_is_broken_is_told(self):
        for answer, text in [
            (urllib.error.HTTPError("http://127.0.0.1", 500, "s@cret", None, None), "it answered 500"),
            (urllib.error.URLError(ConnectionRefusedError(111, "s@cret")), "no answer (URLError)"),
        ]:
            with self.subTest(text):
                self.assertEqual(self.run_script(answer=answer), (1, "GET /v3 of this pod failed: " + text + "\n"))


if __name__ == "__main__":
    unittest.main()
