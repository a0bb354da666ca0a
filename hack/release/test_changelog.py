import unittest

import changelog


class Changelog(unittest.TestCase):
    def test_a_commit_stands_under_what_it_changes_for_users(self):
        for paths, want in (
            (["operators/keystone/internal/pass/scope.go", "docs/database.md"], "Keystone operator"),
            (["operators/c5c3/api/v1alpha1/webhook.go"], "c5c3 operator"),
            (["operators/c5c3/main.go", "operators/keystone/main.go"], "Several operators"),
            (["internal/common/job/job.go"], "Several operators"),
            (["internal/common/job/job_test.go", "hack/make/test.mk"], "Development"),
            (["operators/keystone/internal/controller/testdata/minimal/service.yaml"], "Development"),
            (["operators/keystone/helm/keystone-operator/values.yaml"], "Charts"),
            (["operators/shared/helm/operator-library/templates/_crds.tpl", "docs/architecture.md"], "Charts"),
            (["kubectl-forge/main.go", "go.work"], "kubectl forge"),
            (["deploy/infra/traefik/traefik.yaml"], "Deployment"),
            (["docs/upgrades.md", "README.md"], "Documentation"),
            ([], "Development"),
        ):
            with self.subTest(paths=paths):
                self.assertEqual(changelog.section(paths), want)

    def test_sections_are_in_order_and_none_is_empty(self):
        log = "\0Fix a test\n\nhack/make/test.mk\n\0Speak TLS\n\noperators/keystone/main.go\ndocs/database.md\n\0Say why\n"
        want = "# 1.2.3 (2026-11-23)\n\n## Keystone operator\n\n- Speak TLS\n\n## Development\n\n- Fix a test\n- Say why\n"
        self.assertEqual(changelog.render("1.2.3", "2026-11-23", changelog.parse(log)), want)

    def test_a_version_without_commits_says_so(self):
        self.assertIn("Nothing has changed.", changelog.render("1.2.3", "2026-11-23", []))

    def test_each_section_has_a_place(self):
        programs = [[f"operators/{operator}/main.go"] for operator in changelog.OPERATORS]
        found = [changelog.section(paths) for paths in (*programs, sum(programs, []))] + [name for name, _ in changelog.SECTIONS]
        self.assertEqual(sorted(found), sorted(changelog.ORDER))


if __name__ == "__main__":
    unittest.main()
