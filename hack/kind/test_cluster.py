"""Tests cluster.sh with stand-ins for podman, kind and kubectl, which note what they are called with."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

PODMAN = """#!/bin/bash
echo "podman $*" >>"$STATE/calls"
case $* in
"info --format"*) echo "$STATE" ;;
"ps --all --filter label=io.x-k8s.kind.cluster="*) cat "$STATE/nodes" 2>/dev/null ;;
"ps --all --quiet "*) cat "$STATE/nodes" "$STATE/others" 2>/dev/null ;;
"inspect --format {{.Id}} "*) [[ -s $STATE/nodes ]] && cat "$STATE/id" ;;
"inspect --format {{.State.Running}} "*) cat "$STATE/running" 2>/dev/null || echo true ;;
"inspect --format {{range .Mounts}}"*) [[ -s $STATE/nodes ]] && cat "$STATE/mounts" ;;
"exec "*" ulimit -Hn") echo 20000 ;;
"exec "*" images ls") printf 'REF TYPE DIGEST\\n'; cat "$STATE/images" 2>/dev/null || true ;;
"exec "*" images import "*) cat >/dev/null; [[ ! -e $STATE/broken ]] || { echo "no space left"; exit 1; } ;;
esac
exit $?
"""

KIND = """#!/bin/bash
echo "kind $*" >>"$STATE/calls"
case $* in
*"create cluster"*)
	[[ ! -e $STATE/broken ]] || { echo "kubeadm init failed"; exit 1; }
	echo forge-control-plane >"$STATE/nodes"
	echo "$(<"$CHECKOUT/path")/.cache/kind/audit-policy.yaml" >"$STATE/mounts"
	echo new >"$STATE/id"
	;;
*"delete cluster"*) rm -f "$STATE/nodes" ;;
*"get kubeconfig"*) echo "current-context: kind-forge" ;;
esac
"""

KUBECTL = """#!/bin/bash
echo "kubectl $*" >>"$STATE/calls"
case $* in
*"get --raw /readyz") [[ ! -e $STATE/dead ]] ;;
esac
"""


class Checkout:
    """A checkout on a machine with the stand-ins."""

    def __init__(self, folder):
        self.path = pathlib.Path(folder)
        self.state = self.path / "state"
        self.state.mkdir()
        for name in ("hack/kind", "hack/container"):
            shutil.copytree(ROOT / name, self.path / name)
        (self.path / "hack/tools").mkdir()
        shutil.copy(ROOT / "hack/kind-config.yaml", self.path / "hack")
        self.program("hack/tools/operators.sh", "#!/bin/sh\necho keystone\n")
        self.program("programs/podman", PODMAN)
        self.program(".cache/bin/kind", KIND)
        self.program(".cache/bin/kubectl", KUBECTL)
        self.write(".cache/kind/image", "node")
        self.write("path", str(self.path))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def write(self, name, text):
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text + "\n", encoding="utf-8")

    def program(self, name, text):
        self.write(name, text)
        (self.path / name).chmod(0o755)

    def running(self, owner=None, created="made"):
        """Makes it a machine on which the cluster runs: that of a checkout, or of a user without one."""
        self.write("state/nodes", "forge-control-plane")
        self.write("state/id", "made")
        self.write("state/mounts", f"{owner}/.cache/kind/audit-policy.yaml" if owner else "/lib/modules")
        self.write(".cache/kind/created", created)

    def run(self, *args, **environ):
        """Returns the exit code, what is said, and the calls."""
        (self.state / "calls").unlink(missing_ok=True)
        environ = {
            **os.environ, "PATH": f"{self.path}/programs:{os.environ['PATH']}", "STATE": str(self.state), "CHECKOUT": str(self.path),
            "CONTAINER_ENGINE": "podman", "KIND_HOST_PORT": str(self.port), "NODES": "1", "CLUSTER_NAME": "forge", **environ,
        }
        done = subprocess.run(["bash", self.path / "hack/kind/cluster.sh", *args], env=environ, capture_output=True, text=True, check=False)
        calls = (self.state / "calls").read_text(encoding="utf-8") if (self.state / "calls").exists() else ""
        return done.returncode, done.stdout + done.stderr, calls


class ClusterTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.checkout = Checkout(folder.name)
        self.kubeconfig = self.checkout.path / "kubeconfig"

    def test_a_cluster_is_created_with_the_nodes_and_the_port_that_are_set(self):
        code, said, calls = self.checkout.run("up", NODES="3")
        config = (self.checkout.path / ".cache/kind/config.yaml").read_text(encoding="utf-8")
        self.assertEqual((0, 2), (code, config.count("role: worker")), said)
        self.assertIn(f"hostPort: {self.checkout.port}", config)
        self.assertIn("system:serviceaccounts:keystone-system", (self.checkout.path / ".cache/kind/audit-policy.yaml").read_text(encoding="utf-8"))
        self.assertIn("create cluster --name forge", calls)
        self.assertEqual(0o600, self.kubeconfig.stat().st_mode & 0o777)

    def test_a_cluster_that_works_is_left_alone(self):
        self.checkout.run("up")
        code, said, calls = self.checkout.run("up")
        self.assertEqual(0, code, said)
        self.assertNotRegex(calls, "create cluster|delete cluster|podman start")

    def test_stopped_nodes_are_started(self):
        self.checkout.run("up")
        self.checkout.write("state/running", "false")
        code, said, calls = self.checkout.run("up")
        self.assertEqual(0, code, said)
        self.assertIn("podman start forge-control-plane", calls)
        self.assertNotIn("create cluster", calls)

    def test_a_cluster_whose_creation_was_interrupted_is_made_anew(self):
        self.checkout.running(self.checkout.path, created="another")
        code, said, calls = self.checkout.run("up")
        self.assertEqual(0, code, said)
        self.assertLess(calls.index("delete cluster"), calls.index("create cluster"))

    def test_the_cluster_of_another_checkout_stays(self):
        self.checkout.running("/another")
        for command in ("up", "down"):
            code, said, calls = self.checkout.run(command)
            self.assertEqual((2, True), (code, "belongs to /another" in said and "CLUSTER_NAME" in said), said)
            self.assertNotIn("delete", calls)

    def test_a_cluster_that_no_checkout_has_made_is_used_and_stays(self):
        self.checkout.running()
        code, said, calls = self.checkout.run("up")
        self.assertEqual((0, True), (code, self.kubeconfig.exists()), said)
        code, said, calls = self.checkout.run("down")
        self.assertEqual((2, True), (code, "kind delete cluster --name forge" in said), said)
        self.assertNotIn("kind --quiet delete", calls)

    def test_the_kubeconfig_of_another_cluster_stays(self):
        self.checkout.write("kubeconfig", "current-context: production")
        code, said, _ = self.checkout.run("up")
        self.assertEqual((2, True), (code, "is of another cluster" in said), said)
        self.checkout.run("down")
        self.assertIn("production", self.kubeconfig.read_text(encoding="utf-8"))

    def test_a_taken_port_is_named_before_anything_is_made(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            for command in ("check", "up"):
                code, said, calls = self.checkout.run(command, KIND_HOST_PORT=str(port))
                self.assertEqual((2, True), (code, f"port {port}" in said and "KIND_HOST_PORT" in said), said)
                self.assertNotIn("create", calls)

    def test_a_failed_creation_shows_why(self):
        self.checkout.write("state/broken", "")
        code, said, _ = self.checkout.run("up")
        self.assertEqual((1, True), (code, "kubeadm init failed" in said), said)
        self.assertFalse((self.checkout.path / ".cache/kind/created").exists())

    def test_down_leaves_the_network_to_others(self):
        for others, removed in (("", True), ("another", False)):
            self.checkout.write("state/others", others) if others else (self.checkout.state / "others").unlink(missing_ok=True)
            self.checkout.running(self.checkout.path)
            self.checkout.write("kubeconfig", "current-context: kind-forge")
            code, said, calls = self.checkout.run("down")
            self.assertEqual((0, removed, False), (code, "network rm kind" in calls, self.kubeconfig.exists()), said)

    def archive(self, name, manifest="manifest.json", **images):
        """Writes an archive of images by the digest of the configuration of each, a digit that is repeated."""
        content = [{"Config": f"{digest * 64}.json", "RepoTags": [image]} for image, digest in images.items()]
        path = self.checkout.path / name
        (self.checkout.path / "content").write_text(json.dumps(content), encoding="utf-8")
        with tarfile.open(path, "w") as archive:
            archive.add(self.checkout.path / "content", manifest)
        return str(path)

    def test_only_what_a_node_does_not_have_is_imported(self):
        self.checkout.running(self.checkout.path)
        there = [("one", "a", "1"), ("two", "b", "2"), ("three", "c", "4")]
        self.checkout.write("state/images", "\n".join(
            f"{name} type sha256:{manifest}\nsha256:{digest * 64} type sha256:{manifest}" for name, manifest, digest in there))
        there = self.archive("there.tar", "./manifest.json", one="1", two="2")
        changed = self.archive("changed.tar", two="2", three="3")
        code, said, calls = self.checkout.run("load", there, changed)
        self.assertEqual((0, 1), (code, calls.count("images import")), said)
        self.assertEqual("loaded two\nloaded three\n", said)

    def test_an_import_that_fails_names_the_archive_and_why(self):
        self.checkout.running(self.checkout.path)
        self.checkout.write("state/broken", "")
        code, said, _ = self.checkout.run("load", self.archive("new.tar", one="1"))
        self.assertNotEqual(0, code)
        self.assertRegex(said, "new.tar cannot be imported into the node forge-control-plane: no space left")

    def test_without_a_cluster_it_says_how_to_start_one(self):
        for command in (["status"], ["load", self.archive("a.tar", a="1")]):
            code, said, _ = self.checkout.run(*command)
            self.assertEqual((2, True), (code, 'make quickstart' in said), said)

    def test_a_cluster_that_does_not_answer_fails_the_status(self):
        self.checkout.running(self.checkout.path)
        self.checkout.write("kubeconfig", "current-context: kind-forge")
        self.checkout.write("state/dead", "")
        code, said, _ = self.checkout.run("status")
        self.assertEqual((2, True), (code, "make cluster-up" in said), said)


if __name__ == "__main__":
    unittest.main()
