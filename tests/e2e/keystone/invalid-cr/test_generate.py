"""Tests of _generate.py and of its agreement with chainsaw-test.yaml."""

import contextlib
import io
import pathlib
import re
import tempfile
import unittest
from unittest import mock

import _generate
from _generate import FIXTURES, HERE, SCAFFOLD

BY_HAND = {"00-invalid-cron.yaml", "01-duplicate-plugins.yaml"}


def files_in_suite() -> list[str]:
    """The manifests that chainsaw-test.yaml applies, in order."""
    text = (HERE / "chainsaw-test.yaml").read_text(encoding="utf-8")
    return re.findall(r"^\s*file: (\S+)$", text, re.MULTILINE)


class Fixtures(unittest.TestCase):
    def test_there_are_ten(self):
        self.assertEqual(len(FIXTURES), 10)

    def test_each_has_a_file_and_a_keystone_of_its_own(self):
        for attribute in ("filename", "name"):
            values = [getattr(fixture, attribute) for fixture in FIXTURES]
            self.assertEqual(len(values), len(set(values)), values)

    def test_each_differs_from_the_scaffold_in_one_field(self):
        for fixture in FIXTURES:
            spec = fixture.manifest()["spec"]
            changed = [key for key in spec if spec[key] != SCAFFOLD["spec"].get(key)]
            self.assertEqual(len(changed), 1, fixture.filename)

    def test_the_scaffold_stays_as_it_is(self):
        for fixture in FIXTURES:
            fixture.manifest()
        self.assertEqual(SCAFFOLD["metadata"], {})
        self.assertNotIn("host", SCAFFOLD["spec"]["database"])


class Suite(unittest.TestCase):
    def test_each_fixture_is_applied_once(self):
        applied = files_in_suite()
        for fixture in FIXTURES:
            self.assertEqual(applied.count(fixture.filename), 1, fixture.filename)

    def test_nothing_else_is_applied_but_what_is_written_by_hand(self):
        self.assertEqual(set(files_in_suite()), {fixture.filename for fixture in FIXTURES} | BY_HAND)

    def test_every_manifest_of_the_folder_is_applied(self):
        manifests = {path.name for path in HERE.glob("[0-9]*.yaml")}
        self.assertEqual(manifests, set(files_in_suite()))

    def test_every_step_wants_an_error(self):
        text = (HERE / "chainsaw-test.yaml").read_text(encoding="utf-8")
        self.assertEqual(text.count("($error != null): true"), len(files_in_suite()))


class Generator(unittest.TestCase):
    def run_in(self, folder: str, *arguments: str) -> int:
        with mock.patch.object(_generate, "HERE", pathlib.Path(folder)), contextlib.redirect_stderr(io.StringIO()):
            return _generate.main(list(arguments))

    def test_the_committed_files_are_up_to_date(self):
        self.assertEqual(_generate.main(["--check"]), 0)

    def test_a_check_writes_nothing_and_fails_for_a_missing_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_in(folder, "--check"), 1)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_a_check_fails_for_an_edited_file_until_it_is_written_again(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.run_in(folder), 0)
            self.assertEqual(self.run_in(folder, "--check"), 0)
            with (pathlib.Path(folder) / FIXTURES[0].filename).open("a", encoding="utf-8") as file:
                file.write("  replicas: 2\n")
            self.assertEqual(self.run_in(folder, "--check"), 1)
            self.assertEqual(self.run_in(folder), 0)
            self.assertEqual(self.run_in(folder, "--check"), 0)


class Yaml(unittest.TestCase):
    def test_only_plain_words_go_without_quotes(self):
        for value, want in {
            "a-b_c/d.e:f": "a-b_c/d.e:f", "": '""', "2025.1": '"2025.1"', "a: b": '"a: b"', "a:": '"a:"', "- a": '"- a"',
            -1: "-1", True: "true",
        }.items():
            self.assertEqual(_generate.scalar(value), want)

    def test_maps_and_lists_are_indented(self):
        lines = _generate.to_yaml({"a": {"b": 1, "c": {}}, "d": ["e", "f"], "g": []})
        self.assertEqual(lines, ["a:", "  b: 1", "  c: {}", "d:", "  - e", "  - f", "g: []"])


if __name__ == "__main__":
    unittest.main()
