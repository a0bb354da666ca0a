"""Tests of krew.sh."""

import hashlib
import pathlib
import re
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PLATFORMS = ["linux/amd64", "darwin/arm64", "windows/amd64"]


def manifest(platforms):
    """Returns the manifest for archives that hold their own names."""
    with tempfile.TemporaryDirectory() as folder:
        for platform in platforms:
            name = f"kubectl-forge-1.2.3-{platform.replace('/', '-')}.tar.gz"
            pathlib.Path(folder, name).write_text(name, encoding="utf-8")
        command = [HERE / "krew.sh", "1.2.3", folder, *platforms]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Manifest(unittest.TestCase):
    def test_each_platform_has_its_archive_of_the_release_with_its_checksum(self):
        text = manifest(PLATFORMS)
        names = [f"kubectl-forge-1.2.3-{platform.replace('/', '-')}.tar.gz" for platform in PLATFORMS]
        self.assertEqual(re.findall(r"uri: (\S+)", text), [f"https://github.com/c5c3/forge/releases/download/v1.2.3/{name}" for name in names])
        self.assertEqual(re.findall(r"sha256: (\S+)", text), [hashlib.sha256(name.encode()).hexdigest() for name in names])
        self.assertEqual(list(zip(re.findall(r"os: (\S+)", text), re.findall(r"arch: (\S+)", text))),
                         [tuple(platform.split("/")) for platform in PLATFORMS])

    def test_on_windows_a_program_has_an_extension(self):
        self.assertEqual(re.findall(r"bin: (\S+)", manifest(PLATFORMS)), ["kubectl-forge", "kubectl-forge", "kubectl-forge.exe"])

    def test_krew_takes_its_description(self):
        # https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
        text = manifest(PLATFORMS)
        self.assertIn("\n  version: v1.2.3\n", text)
        self.assertLessEqual(len(re.search(r"shortDescription: (.*)", text)[1]), 50)

    def test_an_archive_that_is_not_there_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([HERE / "krew.sh", "1.2.3", folder, "linux/amd64"], check=False, capture_output=True)
        self.assertNotEqual(result.returncode, 0)


if __name__ == "__main__":
    unittest.main()
