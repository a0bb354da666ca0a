"""Tests of lint_timeouts.py."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import lint_timeouts


class Timeouts(unittest.TestCase):
    def test_a_short_wait_is_found(self):
        for line in (
            "            timeout: 60s", "    assert: 1m", "  error: 30s", "kubectl wait job flush --timeout=80s", "kubectl wait job flush --timeout=50",
        ):
            with self.subTest(line):
                self.assertEqual([number for number, _ in lint_timeouts.faults(f"try:\n{line}\n")], [2])

    def test_others_are_not(self):
        for line in (
            "  timeout: 4m", "  timeout: 5s", "kubectl wait pod a --timeout=1s || true", "kubectl wait pod a --timeout=1h",
            "    - error:", "urlopen(request, timeout=30)", "assert: {}",
        ):
            with self.subTest(line):
                self.assertEqual(lint_timeouts.faults(line), [])

    def test_the_file_and_the_line_are_named(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as errors:
            file = pathlib.Path(folder, "chainsaw-test.yaml")
            file.write_text("try:\n  timeout: 1m\n", encoding="utf-8")
            self.assertEqual(lint_timeouts.main([folder]), 1)
        self.assertEqual(errors.getvalue(), f"{file}:2: timeout: 1m fails on a busy machine: wait for at least 4 minutes\n")

    def test_a_folder_without_suites_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(lint_timeouts.main([folder]), 2)


if __name__ == "__main__":
    unittest.main()
