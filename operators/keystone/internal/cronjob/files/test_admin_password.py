"""Tests of admin_password.py, with a stage.py that only notes what it gets."""

import os
import re
import sys
import types
import unittest
from unittest import mock

STAGED = []
sys.modules["stage"] = types.SimpleNamespace(stage=STAGED.append)

import admin_password


class Generate(unittest.TestCase):
    def test_a_password_has_characters_of_every_kind_and_needs_no_quotes(self):
        for _ in range(50):
            password = admin_password.generate(24, None)
            self.assertEqual(len(password), 32)
            self.assertRegex(password, r"^(?=.*[A-Z])(?=.*[a-z])(?=.*[0-9])(?=.*[-_.~])[A-Za-z][-A-Za-z0-9_.~]+$")

    def test_a_password_is_one_that_keystone_accepts(self):
        for pattern in (r"^(?=.*!).{12,}$", r"^(?=.*\d)(?=.*[a-zA-Z]).{7,}$", r"^(?=.*[@#$%^&+=]).{8,}$", r"^.{8,30}$", r"^[^-]+$"):
            for _ in range(5):
                password = admin_password.generate(24, pattern)
                self.assertTrue(re.match(pattern, password), pattern)
                self.assertGreaterEqual(len(password), 24)

    def test_a_rule_that_nothing_fits_stages_nothing(self):
        for pattern in (r"^.{8,12}$", "(", r"^\d+$"):
            with mock.patch.object(admin_password, "rule", return_value=pattern), \
                    mock.patch.dict(os.environ, PASSWORD_LENGTH="24"), self.assertRaisesRegex(SystemExit, "password_regex"):
                admin_password.main()
        self.assertEqual(STAGED, [])

    def test_what_is_generated_is_staged(self):
        with mock.patch.object(admin_password, "rule", return_value=None), mock.patch.dict(os.environ, PASSWORD_LENGTH="24"):
            admin_password.main()
        self.assertEqual(list(STAGED.pop()), ["password"])


if __name__ == "__main__":
    unittest.main()
