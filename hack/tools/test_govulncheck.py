import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import govulncheck

TODAY = datetime.date(2026, 11, 23)

# Two documents of govulncheck's output, one about a module that is only present.
OUTPUT = """
{"config": {"scanner_name": "govulncheck"}}
{
  "finding": {"osv": "GO-2026-0001", "trace": [{"module": "example.com/there", "version": "v1.0.0"}]}
}
{
  "finding": {"osv": "GO-2026-0002", "fixed_version": "v1.2.3",
    "trace": [{"module": "example.com/one", "package": "example.com/one/parse", "function": "Parse"}, {"function": "main"}]}
}
"""


class Govulncheck(unittest.TestCase):
    def test_only_what_is_called_counts(self):
        self.assertEqual(govulncheck.called(OUTPUT), {"GO-2026-0002": "example.com/one/parse.Parse in example.com/one, fixed in v1.2.3"})

    def test_a_finding_fails_unless_it_is_accepted(self):
        found = govulncheck.called(OUTPUT)
        self.assertEqual(len(govulncheck.judge(found, {})), 1)
        self.assertEqual(govulncheck.judge(found, {"GO-2026-0002": "a reason"}), [])

    def test_what_is_accepted_for_nothing_fails(self):
        self.assertIn("remove it", govulncheck.judge({}, {"GO-2026-0009": "a reason"})[0])

    def test_an_entry_needs_a_day_to_come_and_a_reason(self):
        text = "# why\n\nGO-1 2026-12-31 we are a client\nGO-2 2026-11-22 we are a client\nGO-3 2026-12-31\nGO-4 soon it is fine\n"
        accepted, problems = govulncheck.read_accepted(text, TODAY)
        self.assertEqual(accepted, {"GO-1": "we are a client", "GO-2": "we are a client"})
        self.assertEqual(len(problems), 3)
        self.assertIn("GO-2: the exception expired on", problems[0])

    def run_with(self, script, accepted=""):
        """Runs the program with a stand-in for govulncheck."""
        with tempfile.TemporaryDirectory() as folder:
            tool, listed = pathlib.Path(folder, "govulncheck"), pathlib.Path(folder, "accepted.txt")
            tool.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
            tool.chmod(0o755)
            listed.write_text(accepted, encoding="utf-8")
            return subprocess.run((sys.executable, "-B", os.path.join(os.path.dirname(__file__), "govulncheck.py"), tool, listed, "module"),
                                  capture_output=True, text=True, check=False)

    def test_a_database_that_is_away_is_said_and_fails_nothing(self):
        done = self.run_with("echo 'govulncheck: fetching vulnerabilities: no route to host' >&2; exit 1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("not checked", done.stdout)

    def test_a_module_that_cannot_be_read_fails(self):
        self.assertEqual(self.run_with("echo 'no such module' >&2; exit 1").returncode, 1)

    def test_a_vulnerability_fails_and_is_named(self):
        done = self.run_with(f"cat <<'END'\n{OUTPUT}\nEND")
        self.assertEqual(done.returncode, 1)
        self.assertIn("GO-2026-0002", done.stderr)


if __name__ == "__main__":
    unittest.main()
