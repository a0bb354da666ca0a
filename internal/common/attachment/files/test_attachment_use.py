"""Tests of attachment_use.py, with a database that answers as each test says."""

import contextlib
import io
import os
import pathlib
import sys
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("attachment_use.py")


class AttachmentUse(unittest.TestCase):
    def run_script(self, answer):
        """Returns the exit code and what the script says."""
        self.sqlalchemy = mock.MagicMock()
        self.sqlalchemy.text = str
        self.connection = self.sqlalchemy.create_engine.return_value.connect.return_value.__enter__.return_value
        self.connection.execute.return_value.scalar.side_effect = [answer]
        source = FILE.read_text(encoding="utf-8").replace('VARIABLE = ""', 'VARIABLE = "URL"').replace(
            'QUERY = ""', 'QUERY = "SELECT :name"').replace('ITEMS = ""', 'ITEMS = "ships"')
        said = io.StringIO()
        with mock.patch.dict(sys.modules, {"sqlalchemy": self.sqlalchemy}), mock.patch.dict(os.environ, {"URL": "mysql://u:s3cret@db/x"}), \
                mock.patch.object(sys, "argv", ["attachment_use.py", "store"]), contextlib.redirect_stderr(said):
            try:
                exec(compile(source, FILE, "exec"), {"__name__": "__main__"})
            except SystemExit as end:
                return end.code, said.getvalue()
        return 0, said.getvalue()

    def test_nothing_is_no_use(self):
        self.assertEqual(self.run_script(0), (0, ""))
        self.assertEqual(self.connection.execute.call_args.args, ("SELECT :name", {"name": "store"}))

    def test_items_are_counted(self):
        self.assertEqual(self.run_script(12), (3, "12 ships\n"))

    def test_it_only_reads(self):
        self.run_script(0)
        self.assertEqual(self.connection.execute.call_args_list[0].args, ("SET SESSION TRANSACTION READ ONLY",))

    def test_a_failure_shows_nothing_of_the_server(self):
        code, _ = self.run_script(RuntimeError("s3cret"))
        self.assertEqual(code, "counting the ships failed (RuntimeError)")


if __name__ == "__main__":
    unittest.main()
