"""Tests of consumer.py."""

import contextlib
import io
import json
import pathlib
import tempfile
import unittest
import urllib.error
from unittest import mock

import consumer


def clouds(credential):
    return {"clouds": {"admin": {"auth": {
        "auth_url": "http://keystone:5000/v3",
        "application_credential_id": credential, "application_credential_secret": "secret of " + credential,
    }}}}


class Keystone:
    """Simulates a Keystone that accepts some credentials."""

    def __init__(self, *credentials, revoked=0):
        self.credentials = credentials
        self.revoked = revoked

    def exchange(self, request, **_):
        if request.full_url.endswith("/v3/auth/tokens"):
            credential = json.loads(request.data)["auth"]["identity"]["application_credential"]
            if credential["id"] not in self.credentials or credential["secret"] != "secret of " + credential["id"]:
                raise urllib.error.HTTPError(request.full_url, 401, "Unauthorized", {}, None)
            return {"X-Subject-Token": "token of " + credential["id"]}, {}
        assert request.get_header("X-auth-token").startswith("token of ")
        if self.revoked > 0:
            self.revoked -= 1
            raise urllib.error.HTTPError(request.full_url, 401, "Unauthorized", {}, None)
        return {}, {"projects": [{"name": "admin"}]}


class Consumer(unittest.TestCase):
    def run_with(self, keystone, *held, forgive_after=None, stop_at=None, calls=None, credentials=0):
        """Runs the consumer with one content of the Secret per call, and returns its result and its output."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            remaining = list(held)

            def read():
                if len(held) - len(remaining) + 1 == (stop_at or len(held)):
                    (folder / "stop").write_text(f"{calls or len(held)} {credentials}\n")
                if len(held) - len(remaining) + 1 == forgive_after:
                    (folder / "forgive").touch()
                return clouds(remaining.pop(0))

            printed = io.StringIO()
            with mock.patch.multiple(
                consumer, PERIOD=0, REVOKED_PERIOD=0, STOP=str(folder / "stop"), FORGIVE=str(folder / "forgive"),
                RESULT=str(folder / "result"), read_clouds=read, exchange=keystone.exchange, open_port=mock.DEFAULT,
            ) as replaced, contextlib.redirect_stdout(printed):
                consumer.main()
            result = json.loads((folder / "result").read_text())
            self.times = result.pop("seconds"), result.pop("slowest"), result.pop("failingSeconds")
            return result, printed.getvalue(), replaced["open_port"].call_count

    def test_counts_its_calls_and_the_credentials_they_were_made_with(self):
        result, _, ready = self.run_with(Keystone("one", "two"), "one", "one", "two")
        self.assertEqual(result, {"calls": 3, "failures": 0, "kinds": {}, "forgiven": 0, "revokedTokens": 0, "credentials": 2})
        self.assertEqual(ready, 1)

    def test_makes_as_many_calls_as_it_is_asked_for_before_it_stops(self):
        result, _, _ = self.run_with(Keystone("one"), "one", "one", "one", stop_at=1)
        self.assertEqual(result["calls"], 3)

    def test_makes_calls_until_it_has_used_as_many_credentials_as_it_is_asked_for(self):
        result, _, _ = self.run_with(Keystone("one", "two"), "one", "one", "one", "two", stop_at=1, calls=2, credentials=2)
        self.assertEqual((result["calls"], result["credentials"]), (4, 2))

    def test_counts_failures_by_kind_and_repeats_nothing(self):
        result, printed, _ = self.run_with(Keystone("two"), "one", "one", "two")
        self.assertEqual(
            result,
            {"calls": 3, "failures": 2, "kinds": {"HTTP 401 from tokens": 2}, "forgiven": 0, "revokedTokens": 0, "credentials": 1})
        self.assertNotIn("secret", printed)

    def test_logs_in_again_once_when_its_token_is_refused(self):
        result, _, _ = self.run_with(Keystone("one", revoked=1), "one", "one")
        self.assertEqual(result, {"calls": 2, "failures": 0, "kinds": {}, "forgiven": 0, "revokedTokens": 1, "credentials": 1})
        result, _, _ = self.run_with(Keystone("one", revoked=2), "one", "one")
        self.assertEqual(
            result,
            {"calls": 2, "failures": 1, "kinds": {"HTTP 401 from projects": 1}, "forgiven": 0, "revokedTokens": 0, "credentials": 1})

    def test_counts_failures_apart_that_came_before_it_was_asked_to_forgive_them(self):
        result, _, _ = self.run_with(Keystone("two"), "one", "one", "two", forgive_after=2)
        self.assertEqual(result, {"calls": 3, "failures": 0, "kinds": {}, "forgiven": 2, "revokedTokens": 0, "credentials": 1})
        result, _, _ = self.run_with(Keystone("two"), "one", "two", "one", forgive_after=2)
        self.assertEqual(
            result,
            {"calls": 3, "failures": 1, "kinds": {"HTTP 401 from tokens": 1}, "forgiven": 1, "revokedTokens": 0, "credentials": 1})

    def test_tells_how_long_it_ran_and_how_long_the_longest_call_took(self):
        # The start, then the start and the end of each call, one of which fails,
        # and the end.
        clock = iter([100.0, 100.0, 100.5, 101.0, 108.25, 109.0, 109.5, 110.0])
        with mock.patch.object(consumer.time, "monotonic", lambda: next(clock)):
            result, _, _ = self.run_with(Keystone("one"), "one", "unknown", "one")
        self.assertEqual(result["failures"], 1)
        self.assertEqual(self.times, (10.0, 7.2, 0.0))

    def test_tells_how_long_its_calls_failed(self):
        # The start, then the start and the end of each call, and the end.
        clock = iter([100.0, 101.0, 101.5, 103.0, 103.5, 105.0, 105.5, 107.0, 107.5, 110.0])
        with mock.patch.object(consumer.time, "monotonic", lambda: next(clock)):
            self.run_with(Keystone("one"), "unknown", "one", "unknown", "one")
        self.assertEqual(self.times[2], 4.0)

    def test_is_not_ready_before_a_call_succeeded(self):
        _, _, ready = self.run_with(Keystone(), "one")
        self.assertEqual(ready, 0)


if __name__ == "__main__":
    unittest.main()
