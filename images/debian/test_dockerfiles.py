import pathlib
import re
import unittest

IMAGES = pathlib.Path(__file__).resolve().parents[1]


def defaults():
    """Returns the name, the release, the suite and the version of each image's default release."""
    found = {}
    for line in (IMAGES / "releases").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, release, suite, version = line.split()[:4]
            found.setdefault(name.rpartition("/")[2], (name, release, suite, version))
    return found


class Dockerfiles(unittest.TestCase):
    def test_without_arguments_they_build_the_default_release(self):
        self.assertGreater(len(defaults()), 5)
        for image, (name, release, suite, version) in defaults().items():
            with self.subTest(image=image):
                text = (IMAGES / image / "Dockerfile").read_text(encoding="utf-8")
                arguments = dict(re.findall(r"\b(SUITE|RELEASE|VERSION)=([\w.]+)", text))
                self.assertEqual(arguments, {"RELEASE": release, "SUITE": suite, "VERSION": version} if "RELEASE" in arguments
                                 else {"SUITE": suite, "VERSION": version})
                self.assertIn(f"-t {name}:{release} ", text)


if __name__ == "__main__":
    unittest.main()
