"""Tests of service_user.py, with a Keystone that answers as each test says."""

import pathlib
import sys
import types
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("service_user.py")


class Clock:
    """Advances only when somebody sleeps."""

    now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class ServiceUser(unittest.TestCase):
    def run_script(self, *answers, roles=("service",), region=None):
        """Returns what the script says when it ends. The last of the answers repeats."""
        self.clock, self.session = Clock(), mock.Mock()
        remaining = list(answers or [None])

        def answer():
            current = remaining.pop(0) if len(remaining) > 1 else remaining[0]
            if current:
                raise getattr(self.exceptions, current)("s3cret")
            return "token"

        self.session.get_token.side_effect = answer
        self.session.auth.get_access.return_value.role_names = list(roles)
        self.exceptions = types.SimpleNamespace(**{name: type(name, (Exception,), {}) for name in (
            "Unauthorized", "NotFound", "Forbidden", "EndpointNotFound", "ConnectFailure")})
        self.conf = mock.MagicMock()
        self.conf.__getitem__.return_value.region_name = region
        loading = mock.Mock()
        loading.load_session_from_conf_options.return_value = self.session
        modules = {
            "keystoneauth1": types.SimpleNamespace(exceptions=self.exceptions, loading=loading),
            "oslo_config": types.SimpleNamespace(cfg=types.SimpleNamespace(ConfigOpts=lambda: self.conf, StrOpt=mock.Mock())),
            "time": self.clock,
        }
        with mock.patch.dict(sys.modules, modules), mock.patch.object(sys, "argv", ["service_user.py", "/etc/harbour/"]):
            with self.assertRaises(SystemExit) as end:
                exec(compile(FILE.read_text(encoding="utf-8"), FILE, "exec"), {"__name__": "__main__"})
        return end.exception.code

    def test_a_user_that_validates_a_token_is_accepted(self):
        for role in ("service", "admin"):
            self.assertIsNone(self.run_script(roles=["reader", role]))

    def test_only_the_files_of_the_folder_are_read(self):
        self.run_script()
        self.conf.assert_called_once_with([], default_config_files=[], default_config_dirs=["/etc/harbour/"])

    def test_the_token_is_validated_where_the_service_does_it(self):
        self.run_script(region="RegionOne")
        call = self.session.get.call_args
        self.assertEqual(call.args, ("/auth/tokens",))
        self.assertEqual(call.kwargs["headers"], {"X-Subject-Token": "token", "OpenStack-Identity-Access-Rules": "1.0"})
        self.assertEqual(call.kwargs["endpoint_filter"], {
            "service_type": "identity", "interface": "internal", "region_name": "RegionOne", "version": (3, 0)})

    def test_a_user_that_is_refused_is_refused_at_once(self):
        for error, said in {
            "Unauthorized": "its name, its password", "NotFound": "its name, its password", "Forbidden": "the role service",
        }.items():
            with self.subTest(error):
                self.assertIn(said, self.run_script(error))
                self.assertEqual(self.clock.now, 0)

    def test_a_user_without_a_role_would_validate_only_its_own_tokens(self):
        self.assertIn("the role service", self.run_script(roles=["reader"]))

    def test_a_keystone_that_does_not_answer_yet_is_waited_for(self):
        for error in ("EndpointNotFound", "ConnectFailure"):
            with self.subTest(error):
                self.assertIsNone(self.run_script(error, error, None))
                self.assertGreater(self.clock.now, 0)

    def test_what_does_not_pass_is_told_without_the_words_of_keystone(self):
        for error, said in {"EndpointNotFound": "no internal endpoint", "ConnectFailure": "does not answer (ConnectFailure)"}.items():
            with self.subTest(error):
                problem = self.run_script(error)
                self.assertIn(said, problem)
                self.assertNotIn("s3cret", problem)
                self.assertGreaterEqual(self.clock.now, 60)


if __name__ == "__main__":
    unittest.main()
