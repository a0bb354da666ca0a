"""Tests of lint_scripts.py."""

import contextlib
import io
import pathlib
import tempfile
import textwrap
import unittest

import lint_scripts


def lines(text):
    return [line for line, _ in lint_scripts.faults(textwrap.dedent(text))]


class Scripts(unittest.TestCase):
    def test_several_lines_begin_with_set_eu(self):
        for start, want in {"set -eu": [], "set -e": [3], "before=1": [3], "# set -eu": [3], "set -eu; a": [3]}.items():
            with self.subTest(start):
                self.assertEqual(lines(f"""\
                    - script:
                        timeout: 1m
                        content: |
                          {start}

                          [ "$before" = "$after" ]
                        check:
                          ($error): ~
                    """), want)

    def test_a_block_of_one_line_may_grow_and_is_no_exception(self):
        self.assertEqual(lines("script:\n  content: |\n    kubectl get pods\n"), [2])

    def test_an_empty_block_is_refused(self):
        self.assertEqual(lines("script:\n  content: |\n  check: {}\n"), [2])

    def test_one_command_needs_nothing(self):
        self.assertEqual(lines("- script:\n    content: kubectl get pods --output=name 2>&1 && echo good\n"), [])

    def test_several_commands_on_one_line_are_refused(self):
        for commands in ("kubectl get pods; true", "kubectl get pods & wait"):
            with self.subTest(commands):
                self.assertEqual(lines(f"- script:\n    content: {commands}\n"), [2])

    def test_lines_that_yaml_joins_are_refused(self):
        self.assertEqual(lines("script:\n  content: >-\n    set -eu\n    false\n    true\n"), [2])
        self.assertEqual(lines("script:\n  content:\n    kubectl get\n    pods\n"), [2])
        self.assertEqual(lines("script: {content: kubectl get pods}\n"), [1])

    def test_an_anchor_is_looked_at_once(self):
        self.assertEqual(lines("content: &pods |\n  kubectl get pods\ncheck: {}\n---\ncontent: *pods\n"), [1])

    def test_the_shell_of_a_container_is_strict(self):
        for command, want in {
            "[bash, -euo, pipefail, -c, ($script)]": [], "[/bin/sh, -eu, -c, exit 1]": [], "[sh, -euc, exit 1]": [],
            "[sh, -c, ($script)]": [1], "[/bin/bash, -o, pipefail, -c, ($script)]": [1], "[sh, -ec, exit 1]": [1],
        }.items():
            with self.subTest(command):
                self.assertEqual(lines(f"command: {command}\n"), want)

    def test_so_is_one_on_several_lines(self):
        self.assertEqual(lines("command:\n  - bash\n  - -euo\n  - pipefail\n  - -c\n  - |\n    a\n    b\n"), [])
        self.assertEqual(lines("command:\n  - bash\n  - -c\n  - |\n    a -eu\n"), [2])

    def test_a_script_within_a_script_is_strict(self):
        self.assertEqual(lines("content: kubectl exec pod -- sh -c 'cat /proc/[0-9]*/comm'\n"), [])
        block = "content: |\n  set -eu\n  kubectl exec pod -- sh -c \\\n    '{}'\n"
        self.assertEqual(lines(block.format("set -eu; a; b")), [])
        self.assertEqual(lines(block.format("a\n    b")), [3])


class Files(unittest.TestCase):
    def run_on(self, text):
        with tempfile.TemporaryDirectory() as folder:
            suite = pathlib.Path(folder, "suite")
            suite.mkdir()
            if text is not None:
                (suite / "chainsaw-test.yaml").write_text(text, encoding="utf-8")
            errors = io.StringIO()
            with contextlib.redirect_stderr(errors):
                return lint_scripts.main([folder]), errors.getvalue()

    def test_a_fault_is_named_by_file_and_line(self):
        code, errors = self.run_on("script:\n  content: |\n    false\n    true\n")
        self.assertEqual(code, 1)
        self.assertIn("suite/chainsaw-test.yaml:2: ", errors)

    def test_strict_scripts_pass(self):
        self.assertEqual(self.run_on("script:\n  content: |\n    set -eu\n    true\n"), (0, ""))

    def test_a_folder_without_suites_is_no_success(self):
        self.assertEqual(self.run_on(None)[0], 2)


if __name__ == "__main__":
    unittest.main()
