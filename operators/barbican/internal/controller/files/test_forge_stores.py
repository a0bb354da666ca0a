"""Tests of forge_stores.py."""

import pathlib
import types
import unittest

FILE = pathlib.Path(__file__).with_name("forge_stores.py")


class ConstraintCheck(Exception):
    """Stands for Barbican's own."""


class Stores(unittest.TestCase):
    def entered(self, *failures):
        """Returns how often a worker enters the stores that fails in the given ways first."""
        pending, entered = list(failures), []

        def sync_secret_stores(manager, crypto_manager=None):
            entered.append((manager, crypto_manager))
            if pending:
                raise pending.pop(0)

        module = types.SimpleNamespace(
            sync_secret_stores=sync_secret_stores, exception=types.SimpleNamespace(ConstraintCheck=ConstraintCheck))
        correction = {}
        exec(compile(FILE.read_text(encoding="utf-8"), FILE, "exec"), correction)
        correction["correct"](module)
        module.sync_secret_stores("manager", crypto_manager="crypto")
        self.assertEqual(set(entered), {("manager", "crypto")})
        return len(entered)

    def test_stores_are_entered_once(self):
        self.assertEqual(self.entered(), 1)

    def test_a_worker_that_was_too_late_tries_again(self):
        self.assertEqual(self.entered(ConstraintCheck()), 2)

    def test_what_does_not_help_is_reported(self):
        with self.assertRaises(ConstraintCheck):
            self.entered(ConstraintCheck(), ConstraintCheck())
        with self.assertRaises(ValueError):
            self.entered(ValueError())


if __name__ == "__main__":
    unittest.main()
