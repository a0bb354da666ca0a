"""Tests of shard.py."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import shard

E2E = pathlib.Path(__file__).resolve().parents[2] / "tests" / "e2e"


class Shards(unittest.TestCase):
    def test_every_suite_is_in_exactly_one_shard(self):
        suites = shard.read(E2E)
        self.assertGreater(len(suites), 50)
        for parts in (1, 2, 3, 4, 7, 10, len(suites), len(suites) + 5):
            with self.subTest(parts):
                dealt = [name for part in range(1, parts + 1) for name in shard.split(suites, part, parts)]
                self.assertEqual(sorted(dealt), sorted(suites))

    def test_each_shard_has_its_share_of_the_suites_that_run_alone(self):
        suites = shard.read(E2E)
        self.assertGreater(sum(suites.values()), 5)
        for alone in (True, False):
            for parts in (2, 3, 4):
                with self.subTest(alone=alone, parts=parts):
                    sizes = [sum(suites[name] == alone for name in shard.split(suites, part, parts)) for part in range(1, parts + 1)]
                    self.assertLessEqual(max(sizes) - min(sizes), 1)

    def test_the_order_in_which_suites_are_found_does_not_matter(self):
        suites = {"c": False, "a": True, "b": False, "d": True}
        backwards = dict(reversed(suites.items()))
        self.assertEqual(shard.split(suites, 1, 2), ["a", "b"])
        self.assertEqual(shard.split(backwards, 1, 2), ["a", "b"])
        self.assertEqual(shard.split(suites, 2, 2), ["c", "d"])

    def test_a_bad_value_is_refused(self):
        for text in ("", "1", "0/2", "3/2", "1/0", "0/0", "-1/2", "1/2/3", "1/2\n", "a/b", "1 / 2", "1.5/2", "\N{SUPERSCRIPT ONE}/2"):
            with self.subTest(text):
                self.assertRaisesRegex(ValueError, "SHARD=1/3", shard.parse, text)
        self.assertEqual(shard.parse("2/3"), (2, 3))

    def test_another_list_of_suites_has_another_digest(self):
        self.assertEqual(shard.digest(["a", "b"]), shard.digest(["b", "a"]))
        self.assertNotEqual(shard.digest(["a", "b"]), shard.digest(["a", "c"]))


class Command(unittest.TestCase):
    def run_in_folder(self, text):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("one", "spec:\n  concurrent: false\n"), ("two", "spec:\n"), ("three", "spec:\n    concurrent: false\n")):
                suite = pathlib.Path(folder, name)
                suite.mkdir()
                (suite / "chainsaw-test.yaml").write_text(content, encoding="utf-8")
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as errors:
                code = shard.main(text, folder)
            return code, out.getvalue().replace(folder, "F"), errors.getvalue()

    def test_the_files_of_a_shard_are_printed(self):
        code, out, errors = self.run_in_folder("1/2")
        self.assertEqual((code, out), (0, "F/one/chainsaw-test.yaml\nF/two/chainsaw-test.yaml\n"))
        self.assertRegex(errors, "^shard 1/2 has 2 of 3 suites, whose list is [0-9a-f]{8}\n$")

    def test_a_bad_value_prints_no_suite(self):
        code, out, errors = self.run_in_folder("3/2")
        self.assertEqual((code, out), (2, ""))
        self.assertIn('"3/2"', errors)


if __name__ == "__main__":
    unittest.main()
