"""Tests of affected.py."""

import pathlib
import subprocess
import tempfile
import unittest

import affected

SUITES = ["c5c3/minimal", "keystone/smoke", "harbour/basic"]


class Affected(unittest.TestCase):
    def test_a_change_runs_the_suites_that_it_can_break(self):
        for paths, want in (
            (None, SUITES),
            ([], []),
            ([".ci/green"], []),
            (["operators/harbour/main.go"], ["c5c3/minimal", "harbour/basic"]),
            ([f"operators/{affected.TOP}/api/v1alpha1/shared.go"], ["c5c3/minimal"]),
            (["operators/harbour/internal/controller/harbour_test.go"], []),
            (["tests/e2e/harbour/basic/chainsaw-test.yaml"], ["harbour/basic"]),
            (["tests/e2e/harbour/basic/chainsaw-test.yaml", f"operators/{affected.TOP}/main.go"], ["c5c3/minimal", "harbour/basic"]),
            # Every service needs a Keystone.
            ([f"operators/{affected.BASE}/main.go"], SUITES),
            (["operators/shared/helm/templates/pod.tpl"], SUITES),
            (["tests/e2e/harbour/steps/ready.yaml"], SUITES),
            (["internal/common/apply/apply.go"], SUITES),
            # A suite runs the commands of the documentation.
            (["docs/quick-start.md"], SUITES),
            (["operators/new/main.go"], SUITES),
            (["go.work"], SUITES),
        ):
            with self.subTest(paths):
                self.assertEqual(affected.affected(paths, SUITES), want)

    def test_every_core_suite_belongs_to_an_operator(self):
        suites = affected.core(affected.ROOT / "tests" / "e2e")
        self.assertGreater(len(suites), 5)
        for suite in suites:
            self.assertTrue((affected.ROOT / "operators" / suite.split("/")[0]).is_dir(), suite)

    def test_what_has_changed_is_compared_with_the_green_commit(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)

            def git(*arguments):
                return subprocess.run(
                    ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@example.com", *arguments],
                    check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

            git("init", "--quiet")
            (root / "kept").write_text("same")
            (root / "edited").write_text("before")
            git("add", ".")
            git("commit", "--quiet", "--message=first")
            self.assertIsNone(affected.changed(root))
            (root / ".ci").mkdir()
            (root / ".ci" / "green").write_text(git("rev-parse", "HEAD") + "\n")
            (root / "edited").write_text("after")
            git("commit", "--quiet", "--all", "--message=second")
            (root / "new").write_text("not committed")
            self.assertEqual(sorted(affected.changed(root)), [".ci/green", "edited", "new"])
            (root / ".ci" / "green").write_text("0" * 40)
            self.assertIsNone(affected.changed(root))


if __name__ == "__main__":
    unittest.main()
