import copy
import unittest

import sbom

LICENSES = """
================================================================================
example.com/one/sub v1.0.0
License: MIT
--------------------------------------------------------------------------------
The text.

License: GPL-3.0 is only mentioned here.
================================================================================
example.com/one v1.0.0
License: Apache-2.0
--------------------------------------------------------------------------------
Another text.
"""

BOM = {
    "metadata": {
        "timestamp": "2026-11-23T03:46:05Z",
        "tools": [{"name": "cyclonedx-gomod", "hashes": [{"alg": "MD5", "content": "2a"}]}],
        "component": {"name": "github.com/c5c3/forge/operators/keystone", "version": "v0.0.0"},
    },
    "components": [
        {"bom-ref": "own", "name": "../../internal/common", "version": "(devel)"},
        {"bom-ref": "one", "name": "example.com/one", "version": "v1.0.0", "evidence": {"licenses": []}},
        {"bom-ref": "onesie", "name": "example.com/onesie", "version": "v1.0.0"},
    ],
    "dependencies": [{"ref": "own", "dependsOn": ["one"]}, {"ref": "main", "dependsOn": ["own", "one"]}],
}


class Bill(unittest.TestCase):
    def setUp(self):
        self.bom = sbom.complete(copy.deepcopy(BOM), "keystone-operator", "1.2.3", 0, sbom.read_licenses(LICENSES))

    def test_nothing_of_the_run_is_left(self):
        self.assertEqual(self.bom["metadata"]["timestamp"], "1970-01-01T00:00:00Z")
        self.assertNotIn("hashes", self.bom["metadata"]["tools"][0])

    def test_modules_of_this_repository_have_the_name_that_others_know(self):
        own = self.bom["components"][0]
        self.assertEqual(sbom.own_path("../keystone", "github.com/c5c3/forge/operators/c5c3"), "github.com/c5c3/forge/operators/keystone")
        self.assertEqual((own["name"], own["version"]), ("github.com/c5c3/forge/internal/common", "1.2.3"))
        self.assertEqual(own["purl"], "pkg:golang/github.com/c5c3/forge/internal/common@v1.2.3")
        self.assertEqual(self.bom["dependencies"][0], {"ref": own["purl"], "dependsOn": ["one"]})
        self.assertEqual(self.bom["dependencies"][1]["dependsOn"], [own["purl"], "one"])

    def test_a_module_has_the_licenses_of_its_parts_and_of_no_other(self):
        found = [[one["license"]["id"] for one in c.get("licenses", [])] for c in self.bom["components"]]
        self.assertEqual(found, [["Apache-2.0"], ["Apache-2.0", "MIT"], []])


if __name__ == "__main__":
    unittest.main()
