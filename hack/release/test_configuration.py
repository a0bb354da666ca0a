import json
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
WORD = r"""(?:[a-z0-9-]+|[A-Z0-9_]+=(?:"[^"]*"|\S+))"""
MAKE = re.compile(rf"\bmake ({WORD}(?: {WORD})*)")


def made(path):
    """Returns the make targets of a workflow's steps, in order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [found[1] for line in lines if "run:" in line and (found := MAKE.search(line))]


def files():
    """Returns the files of the repository, including untracked ones that are not ignored."""
    listed = subprocess.run(("git", "ls-files", "-co", "--exclude-standard"), cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


class Workflows(unittest.TestCase):
    def test_ci_makes_what_every_change_has_to_pass(self):
        script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        stages = re.findall(r"^stage \w+ (.*) \|\| exit$", script, re.MULTILINE)
        self.assertGreater(len(stages), 3)
        # The workflow runs all core suites.
        stages = [stage.removesuffix(' SUITES="$suites"') for stage in stages]
        self.assertEqual(made(WORKFLOWS / "ci.yml"), stages + ["quickstart-down"])

    def test_each_target_exists(self):
        known = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "hack" / "make").glob("*.mk"))
        for workflow in WORKFLOWS.glob("*.yml"):
            for target in made(workflow):
                with self.subTest(workflow=workflow.name, target=target):
                    self.assertRegex(known, rf"(?m)^{target.split()[0]}:")

    def test_actions_are_pinned(self):
        for workflow in WORKFLOWS.glob("*.yml"):
            for line in workflow.read_text(encoding="utf-8").splitlines():
                if "uses:" in line:
                    self.assertRegex(line, r"@[0-9a-f]{40} # v[0-9.]+$")


# Paths that belong to one operator or are generated from it, and those about the
# operators in general: pages, and the plugin, which has advice for single kinds.
APART = re.compile(r"operators/|images/|tests/e2e/|docs/|kubectl-forge/|.*\.md$|.*/go\.(mod|sum)$|go\.work$|PROJECT$")

# Places that a new operator must be added to. docs/add-a-service.md covers them, the
# plugin's list, and the c5c3 operator, which is the fifth place.
PLACES = (
    "deploy/flux-system/releases/",
    "deploy/namespaces/namespaces.yaml",
    "hack/docs/manifests_",
)

# The plugin's list of the kinds of services.
PLUGIN = "kubectl-forge/internal/inventory/service.go"

# Places that name several operators and need no entry for another one.
EXAMPLES = (
    # Only an operator with packages of its own under internal has an order of them to keep.
    ".golangci.yml",
    "hack/bench/internal/operators/",
    "hack/deploy-infra/contents_test.go",
    "hack/deploy-infra/scripts_test.go",
    "hack/e2e/rbac.py",
    "hack/release/test_changelog.py",
    "hack/release/test_sbom.py",
)


class Operators(unittest.TestCase):
    def setUp(self):
        self.operators = {api.parent.name for api in ROOT.glob("operators/*/api")}
        self.lists = {}
        for path in files():
            file = ROOT / path
            if not APART.match(path) and file.is_file():
                names = self.named(file.read_bytes().decode("utf-8", "replace"))
                if len(names) > 1:
                    self.lists[path] = names

    def named(self, text):
        """Returns the operators that a text refers to by their folder, program or namespace."""
        return {name for name in self.operators
                if re.search(rf"operators/{name}\b|e2e/{name}\b|(?<![\w-]){name}-(operator|system)\b", text)}

    def test_operators_are_listed_in_few_places(self):
        unknown = [path for path in self.lists if not path.startswith(PLACES + EXAMPLES)]
        self.assertEqual(unknown, [], "ask hack/tools/operators.sh for the operators, or look for their folders")
        self.assertLessEqual(len(PLACES), 3)

    def test_one_service_is_exemplary(self):
        """Otherwise short tests leave out what they verify with that service."""
        exemplary = [str(test.relative_to(ROOT)) for test in ROOT.glob("operators/*/internal/controller/*_test.go")
                     if re.search(r"\bExemplary: +true\b", test.read_text(encoding="utf-8"))]
        self.assertEqual(len(exemplary), 1, exemplary)

    def test_each_place_has_each_operator(self):
        for place in PLACES:
            with self.subTest(place=place):
                named = set().union(*(names for path, names in self.lists.items() if path.startswith(place)))
                self.assertEqual(named, self.operators)

    def test_the_plugin_knows_each_service(self):
        self.assertEqual(self.named((ROOT / PLUGIN).read_text(encoding="utf-8")), self.operators - {"c5c3"})

    def test_the_program_of_all_services_has_each_service(self):
        program = ROOT / "operators" / "openstack"
        for place in ("main.go", "go.mod", "Dockerfile", "Dockerfile.dockerignore"):
            with self.subTest(place=place):
                self.assertEqual(self.named((program / place).read_text(encoding="utf-8")), self.operators - {"c5c3"})
        charts = {folder.name for folder in (program / "helm" / "openstack-operator" / "files").iterdir() if folder.is_dir()}
        self.assertEqual(charts, self.operators - {"c5c3"})
        values = (program / "helm" / "openstack-operator" / "values.yaml").read_text(encoding="utf-8")
        switches = re.search(r"^services:\n((?:  .*\n)+)", values, re.MULTILINE)[1]
        self.assertEqual(set(re.findall(r"^  (\w+):$", switches, re.MULTILINE)), self.operators - {"c5c3"})

    def test_a_control_plane_knows_a_service_in_one_file(self):
        sources = [path for path in files() if re.match(r"operators/c5c3/(?!.*(_test\.go$|/testutil/)).*\.go$", path)]
        self.assertGreater(len(sources), 20)
        for service in self.operators - {"c5c3"}:
            with self.subTest(service=service):
                own = [f"operators/c5c3/internal/services/{service}.go"]
                if service == "keystone":
                    # K-ORC, and the operator itself, log in to it.
                    own.append("operators/c5c3/internal/controlplane/keystone.go")
                    # The API refuses options that the service reserves.
                    own.append("operators/c5c3/api/v1alpha1/validation_reserved.go")
                    # Nothing waits for its identity backends, so they have a step of their own.
                    own.append("operators/c5c3/internal/services/identity_backends.go")
                if service in ("horizon", "keystone"):
                    # Users log in to Horizon by way of Keystone.
                    own.append("operators/c5c3/internal/services/logins.go")
                if service in ("barbican", "glance", "keystone"):
                    # A control plane's stores and backends have the fields of the service's own, and their rules.
                    own += ["operators/c5c3/api/v1alpha1/services_types.go", "operators/c5c3/api/v1alpha1/validation_stores.go"]
                others = [path for path in sources if path not in own and (ROOT / path).is_file()
                          and f"operators/{service}/api/" in (ROOT / path).read_text(encoding="utf-8")]
                self.assertEqual(others, [], f"what a control plane knows of the service belongs into {own}")

    def test_no_example_is_left_over(self):
        for example in EXAMPLES:
            self.assertTrue([path for path in self.lists if path.startswith(example)], example)

    def test_the_workspace_has_each_operator(self):
        workspace = (ROOT / "go.work").read_text(encoding="utf-8")
        for operator in self.operators:
            self.assertIn(f"\t./operators/{operator}\n", workspace, "make workspace")


class Renovate(unittest.TestCase):
    def setUp(self):
        self.config = json.loads((ROOT / "renovate.json").read_text(encoding="utf-8"))

    def test_each_expression_finds_a_version(self):
        for manager in self.config["customManagers"]:
            patterns = [re.compile(pattern.strip("/")) for pattern in manager["managerFilePatterns"]]
            texts = [(ROOT / name).read_text(encoding="utf-8") for name in files() if any(p.search(name) for p in patterns)]
            for expression in manager["matchStrings"]:
                with self.subTest(expression=expression):
                    # Other languages write groups without the P.
                    found = [m for text in texts for m in re.finditer(expression.replace("(?<", "(?P<"), text)]
                    self.assertTrue(found and found[0]["currentValue"])


if __name__ == "__main__":
    unittest.main()
