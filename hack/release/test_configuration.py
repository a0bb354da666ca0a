import json
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
MAKE = re.compile(r"\bmake ((?:[a-z0-9-]+|[A-Z0-9_]+=\S+)(?: (?:[a-z0-9-]+|[A-Z0-9_]+=\S+))*)")


def made(path):
    """Returns what the steps of a workflow make, in order."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [found[1] for line in lines if "run:" in line and (found := MAKE.search(line))]


def files():
    """Returns the files of the repository, those about to be committed among them."""
    listed = subprocess.run(("git", "ls-files", "-co", "--exclude-standard"), cwd=ROOT, check=True, capture_output=True, text=True)
    return listed.stdout.splitlines()


class Workflows(unittest.TestCase):
    def test_ci_makes_what_every_change_has_to_pass(self):
        script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
        stages = re.findall(r"^stage \w+ (.*) \|\| exit$", script, re.MULTILINE)
        self.assertGreater(len(stages), 3)
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
