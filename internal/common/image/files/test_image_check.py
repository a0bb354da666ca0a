"""Tests of image_check.py, with programs and modules made for them."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("image_check.py")


class Image(unittest.TestCase):
    """An image with the programs and the modules that a test puts into it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("bin", "lib"):
            (self.root / name).mkdir()
        self.message = self.root / "message"
        for patch in (
            mock.patch.dict(os.environ, PATH=str(self.root / "bin")),
            mock.patch.object(sys, "path", [str(self.root / "lib"), *sys.path]),
        ):
            patch.start()
            self.addCleanup(patch.stop)
        before = set(sys.modules)
        self.addCleanup(lambda: [sys.modules.pop(name) for name in set(sys.modules) - before])
        for program in ("uwsgi", "harbour-manage"):
            self.program(program)
        self.module("pymysqlike")
        self.version("7.1.0")

    def program(self, name):
        path = self.root / "bin" / name
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    def module(self, name):
        folder = self.root / "lib"
        *packages, last = name.split(".")
        for package in packages:
            folder = folder / package
            folder.mkdir(exist_ok=True)
            (folder / "__init__.py").touch()
        (folder / (last + ".py")).touch()

    def version(self, text):
        info = self.root / "lib" / "harbour.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text("Name: harbour\nVersion: %s\n" % text, encoding="utf-8")

    def check(self, *arguments, script="/nowhere/harbour-api"):
        """Returns the exit code, what was found, and what was said."""
        spec = importlib.util.spec_from_file_location("image_check", FILE)
        program = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(program)
        program.DISTRIBUTION, program.SCRIPT, program.MODULE = "harbour", script, "harbour.wsgi:application"
        program.PROGRAMS, program.LIBRARIES = ["uwsgi", "harbour-manage"], ["pymysqlike"]
        program.FINDING = str(self.message)
        importlib.invalidate_caches()
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = program.main(*arguments)
        found = json.loads(self.message.read_text(encoding="utf-8")) if self.message.exists() else None
        return code, found, said.getvalue()

    def test_the_script_at_its_path_is_found(self):
        script = self.program("harbour-api")
        self.assertEqual(self.check(script=script), (0, {"script": script, "module": "", "version": "7.1.0"}, ""))

    def test_a_script_anywhere_in_the_path_is_found(self):
        script = self.program("harbour-api")
        self.assertEqual(self.check()[1]["script"], script)

    def test_the_module_is_found(self):
        self.module("harbour.wsgi")
        self.assertEqual(self.check()[1], {"script": "", "module": "harbour.wsgi:application", "version": "7.1.0"})

    def test_both_are_found(self):
        script = self.program("harbour-api")
        self.module("harbour.wsgi")
        self.assertEqual(self.check()[1], {"script": script, "module": "harbour.wsgi:application", "version": "7.1.0"})

    def test_an_unknown_version_is_empty(self):
        self.program("harbour-api")
        (self.root / "lib" / "harbour.dist-info" / "METADATA").unlink()
        (self.root / "lib" / "harbour.dist-info").rmdir()
        self.assertEqual(self.check("8")[:2], (0, {"script": mock.ANY, "module": "", "version": ""}))

    def test_what_the_image_lacks_is_named(self):
        os.unlink(self.root / "bin" / "uwsgi")
        os.unlink(self.root / "lib" / "pymysqlike.py")
        code, found, said = self.check()
        self.assertEqual((code, found), (69, None))
        for part in ("the program uwsgi", "the Python module pymysqlike", "the script harbour-api and the Python module harbour.wsgi"):
            self.assertIn(part, said)

    def test_another_major_version_is_refused(self):
        self.program("harbour-api")
        self.assertEqual(self.check("7")[0], 0)
        self.message.unlink()
        code, found, said = self.check("8")
        self.assertEqual((code, found), (69, None))
        self.assertIn("holds harbour 7.1.0, but its tag stands for major version 8", said)


if __name__ == "__main__":
    unittest.main()
