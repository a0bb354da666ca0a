"""Tests of the selection of tests, the configuration for them and what a run prints."""

import contextlib
import io
import os
import tempfile
import unittest

import conf
import results
import selection

ENVIRON = {"OS_AUTH_URL": "http://keystone:5000/v3", "OS_USERNAME": "admin", "OS_PASSWORD": "x"}


class Test:
    """A test with a name only."""

    def __init__(self, name):
        self.name = name

    def id(self):
        return self.name


def excluded(text, release):
    """Returns the excluded tests of a release, read from a file with this text."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(text)
        file.flush()
        return selection.Excluded(file.name, release)


class SelectionTest(unittest.TestCase):
    """Selects among five tests."""

    tests = [Test("tempest.api.identity.v3.a.A.test_x[id-1,smoke]"), Test("tempest.api.identity.v3.a.A.test_xy"),
             Test("keystone_tempest_plugin.tests.rbac.v3.b.B.test_x"), Test("tempest.api.compute.c.C.test_x"),
             Test("tempest.api.image.v2.d.D.test_x")]
    nothing = "[]"

    def names(self, chosen, text=nothing, short=(), release="2025.1"):
        tests, left_out = selection.select(self.tests, chosen, short, excluded(text, release))
        return [selection.name(test) for test in tests], left_out

    def test_the_full_selection_has_all_of_the_identity_api(self):
        names, left_out = self.names(selection.FULL)
        self.assertEqual((3, 0), (len(names), left_out))
        self.assertNotIn("tempest.api.compute.c.C.test_x", names)

    def test_the_short_selection_has_what_is_named_and_what_is_below_it(self):
        self.assertEqual((["tempest.api.identity.v3.a.A.test_x"], 0), self.names(selection.SHORT, short=["tempest.api.identity.v3.a.A.test_x"]))
        self.assertEqual(2, len(self.names(selection.SHORT, short=["tempest.api.identity.v3.a"])[0]))

    def test_the_tests_of_the_image_api_are_a_selection_of_their_own(self):
        self.assertEqual((["tempest.api.image.v2.d.D.test_x"], 0), self.names(selection.IMAGE))

    def test_an_unknown_selection_is_refused(self):
        with self.assertRaisesRegex(selection.Invalid, "set it to full, short or image"):
            self.names("some")

    def test_a_test_is_excluded_in_the_releases_of_its_entry(self):
        text = "- {test: tempest.api.identity.v3.a.A, from: '2025.1', until: '2025.2', reason: r, link: l}"
        for release, expected in (("2024.2", 0), ("2025.1", 2), ("2025.2", 2), ("2026.1", 0)):
            with self.subTest(release):
                self.assertEqual(expected, self.names(selection.FULL, text, release=release)[1])

    def test_an_entry_may_be_about_a_class_in_all_modules(self):
        self.assertEqual(2, self.names(selection.FULL, "- {test: tempest.api.*.A, reason: r, link: l}")[1])
        self.assertEqual(0, self.names(selection.FULL, "- {test: tempest.api.*.a, reason: r, link: l, until: '2024.2'}")[1])

    def test_an_entry_may_name_several_tests(self):
        text = "- {test: [tempest.api.identity.v3.a.A.test_x, '*.b.[AB].test_x'], reason: r, link: l}"
        self.assertEqual((["tempest.api.identity.v3.a.A.test_xy"], 2), self.names(selection.FULL, text))

    def test_an_entry_without_a_link_is_refused(self):
        with self.assertRaisesRegex(selection.Invalid, "'a' has no link"):
            excluded("- {test: a, reason: r}", "2025.1")

    def test_the_list_of_the_image_is_complete(self):
        selection.Excluded(os.path.join(os.path.dirname(os.path.abspath(__file__)), "excluded.yaml"), "2025.1")


class ConfTest(unittest.TestCase):
    """Renders tempest.conf."""

    def test_the_password_is_in_no_file(self):
        environ = {**ENVIRON, "OS_PASSWORD": "-e2e $admin \"password'"}
        with tempfile.TemporaryDirectory() as folder:
            with open(conf.prepare(environ, folder), encoding="utf-8") as file:
                text = file.read()
        self.assertNotIn("e2e", text)
        self.assertEqual("-e2e $$admin \"password'", environ[conf.PASSWORD_OPTION])

    def test_what_is_missing_is_named(self):
        with self.assertRaisesRegex(conf.Invalid, "OS_AUTH_URL, OS_PASSWORD is missing"):
            conf.options({"OS_USERNAME": "admin"})

    def test_a_value_that_cannot_be_read_is_refused(self):
        with self.assertRaisesRegex(conf.Invalid, "set another password"):
            conf.escape("a\\$b")

    def test_scope_is_enforced(self):
        options = conf.options(ENVIRON)
        self.assertEqual("true", options["identity-feature-enabled"]["enforce_scope"])
        self.assertEqual("all", options["auth"]["admin_system"])


class OutputTest(unittest.TestCase):
    """Prints the results of a run."""

    def test_only_the_line_of_a_result_begins_with_a_result(self):
        ended = [results.Result("a.A.test_x", results.PASSED, "", 0.1), results.Result("a.A.test_y", results.FAILED, "failed to", 0.1)]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            for result in ended:
                results.show(result)
            results.summarise(ended, 0, 1.0)
        found = [line.split()[1] for line in printed.getvalue().splitlines() if line.startswith(("passed ", "failed ", "skipped "))]
        self.assertEqual(["a.A.test_x", "a.A.test_y"], found)


if __name__ == "__main__":
    unittest.main()
