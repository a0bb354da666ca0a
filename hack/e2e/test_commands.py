"""Tests of commands.py."""

import os
import re
import shlex
import subprocess
import unittest
from unittest import mock

import commands

PAGE = """# A page

```sh
kubectl get pods
```

- In a list:

  ```sh
  kubectl --namespace NAMESPACE get keystone NAME
  ```

```sh elsewhere
kind delete cluster
```

```yaml values=keystone-operator
replicas: 3
```

```sh
helm upgrade keystone-operator chart --values mine.yaml
```
"""


def files(*patterns):
    """Returns the files in Git that match patterns."""
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=commands.ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return listed.stdout.split()


class Pages(unittest.TestCase):
    def test_every_page_is_run_by_exactly_one_suite(self):
        pages = []
        for suite in files("tests/e2e/*.yaml"):
            text = (commands.ROOT / suite).read_text(encoding="utf-8")
            for patterns in re.findall(r"commands[.]py [$][(]git ls-files (.*)[)]", text):
                pages += files(*shlex.split(patterns))
        self.assertEqual(sorted(pages), sorted(files("README.md", "docs/*.md", "operators/*/helm/*-operator/README.md")))

    @mock.patch.dict(os.environ, NAMESPACE="openstack")
    def test_the_object_of_every_page_is_known(self):
        for page in files("docs/*.md"):
            with self.subTest(page):
                commands.script_of(page, (commands.ROOT / page).read_text(encoding="utf-8"))


@mock.patch.dict(os.environ, NAMESPACE="openstack")
class Script(unittest.TestCase):
    def test_blocks_of_shell_run_in_their_order_and_others_do_not(self):
        script = commands.script_of("docs/runbooks/KeystoneNotReady.md", PAGE)
        self.assertEqual([line for line in script.splitlines() if "COMMANDS_AT" in line],
                         [f"export COMMANDS_AT=docs/runbooks/KeystoneNotReady.md:{line}" for line in (3, 9, 21)])
        self.assertNotIn("kind", script)

    def test_a_runbook_is_about_an_object_that_there_is(self):
        script = commands.script_of("docs/runbooks/KeystoneNotReady.md", PAGE)
        self.assertIn("\nkubectl --namespace openstack get keystone keystone\n", script)

    def test_a_page_about_no_known_object_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "docs/page.md has a placeholder"):
            commands.script_of("docs/page.md", PAGE)

    def test_a_file_of_values_is_the_one_on_the_page(self):
        self.assertEqual(commands.values_of(PAGE), {"mine.yaml": "replicas: 3\n"})


class Rewritten(unittest.TestCase):
    def check(self, command, expected, changed=True):
        program, *args = command.split()
        got = commands.rewritten(program, args, changed)
        self.assertEqual(got and " ".join(got), expected)

    def test_what_reads_is_run_as_it_is(self):
        self.check("kubectl -n openstack get keystone keystone --watch", "kubectl -n openstack get keystone keystone")
        self.check("kubectl -n a exec -it deployment/b -- bash -it", "kubectl -n a exec --stdin deployment/b -- bash -it")

    def test_what_writes_is_a_dry_run(self):
        self.check("kubectl -n openstack delete secret one two", "kubectl -n openstack delete secret one two --dry-run=server")
        self.check("kubectl -n a run probe --rm -it --image=b -- wget -O- c", "kubectl -n a run probe --image=b --dry-run=server -- wget -O- c")

    def test_a_wait_for_the_effect_of_a_dry_run_only_gets_the_object(self):
        wait = "kubectl wait controlplane/a -n b --for=condition=Ready --timeout=10m"
        self.check(wait, wait)
        self.check(wait, "kubectl get controlplane/a -n b", changed=False)

    def test_a_name_of_a_flag_or_namespace_is_no_verb(self):
        self.check("kubectl --namespace delete get pods", "kubectl --namespace delete get pods")

    def test_an_upgrade_is_looked_at_and_not_begun(self):
        self.check("kubectl forge upgrade --to 2026.1", "kubectl-forge upgrade --to 2026.1 --preflight")
        self.check("kubectl forge upgrade --to 2026.1 --preflight", "kubectl-forge upgrade --to 2026.1 --preflight")
        self.check("kubectl forge status -n openstack", "kubectl-forge status -n openstack")

    def test_a_chart_is_rendered_and_not_installed(self):
        self.check("helm upgrade --install name folder -n upgrade --wait", "helm template name folder -n upgrade")

    def test_an_openstack_client_is_in_its_pod(self):
        self.check("openstack user list", "kubectl --namespace=openstack exec deployment/openstack-client -- openstack user list")

    def test_targets_of_make_are_not_run(self):
        self.check("make e2e", None)
