"""Tests of forge_start.py."""

import gc
import importlib
import importlib.metadata
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("forge_start.py")

class Start(unittest.TestCase):
    """What a start imports of a Keystone that notes what is loaded of it."""

    NOTE = "import builtins\nbuiltins.loaded.append(__name__)\n"
    MODULES = {
        "keystone/__init__.py": "",
        "keystone/federation/__init__.py": "",
        "keystone/federation/idp.py": NOTE + "GENERATOR = object()\n",
        "keystone/server/__init__.py": "",
        "keystone/server/wsgi.py": "from keystone.federation import idp\n" + NOTE
        + "def initialize_public_application():\n    return idp.GENERATOR\n",
        "keystone/identity/__init__.py": "",
        "keystone/identity/backends/__init__.py": "",
        "keystone/identity/backends/sql.py": "class Identity:\n"
        "    failures = 0\n"
        "    def authenticate(self):\n        self._record_failed_auth('id of the administrator')\n"
        "    def _record_failed_auth(self, user_id):\n        self.failures += 1\n",
        "forge_errors.py": "def answering(application):\n    return ('answering', application)\n",
    }

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name, content in self.MODULES.items():
            file = pathlib.Path(folder.name, name)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
        self.loaded = []
        for patch in [
            mock.patch("builtins.loaded", self.loaded, create=True),
            mock.patch.dict(sys.modules),
            mock.patch.object(sys, "meta_path", list(sys.meta_path)),
            mock.patch.object(sys, "path", [folder.name, *sys.path]),
            mock.patch.object(sys, "dont_write_bytecode", True),
        ]:
            patch.start()
            self.addCleanup(patch.stop)
        importlib.invalidate_caches()
        self.folder = pathlib.Path(folder.name)

    def start(self, program, threads=False, environment=(), methods=""):
        """Does what Python does when it starts, and returns the environment after it."""
        source = FILE.read_text(encoding="utf-8")
        changed = source.replace("\nSEVERAL_THREADS = False\n", f"\nSEVERAL_THREADS = {threads}\n")
        self.assertEqual(threads, changed != source)
        changed = changed.replace('\nMETHODS = ""\n', f'\nMETHODS = "{methods}"\n')
        self.assertEqual(1, changed.count(f'\nMETHODS = "{methods}"\n'))
        with mock.patch.dict(os.environ, environment, clear=True), mock.patch("os.readlink", return_value=program):
            exec(compile(changed, FILE, "exec"), {"__name__": "forge_start", "__file__": str(self.folder / "forge_start.py")})
            return dict(os.environ)

    def plugins(self, *names):
        """Makes it a Keystone with these plugins for methods."""
        folder = self.folder / "keystone-30.0.0.dist-info"
        folder.mkdir(exist_ok=True)
        (folder / "METADATA").write_text("Name: keystone\nVersion: 30.0.0\n", encoding="utf-8")
        groups = "".join(f"[keystone.auth.{name}]\ndefault = keystone:Plugin\n" for name in names)
        (folder / "entry_points.txt").write_text(groups, encoding="utf-8")

    def test_tokens_of_ec2_credentials_are_marked_where_keystone_has_the_method(self):
        self.plugins("password", "ec2credential")
        (self.folder / "keystone.conf").write_text("[auth]\nmethods = password,token\n", encoding="utf-8")
        for program in ["/usr/bin/uwsgi-core", "/usr/bin/python3"]:
            self.assertEqual("password,token,ec2credential", self.start(program, methods="password,token").get("OS_AUTH__METHODS"))

    def test_methods_stay_as_they_are_in_a_keystone_without_the_method(self):
        (self.folder / "keystone.conf").write_text("[auth]\nmethods = password,token\n", encoding="utf-8")
        with mock.patch("importlib.metadata.distribution", side_effect=importlib.metadata.PackageNotFoundError):
            self.assertNotIn("OS_AUTH__METHODS", self.start("/usr/bin/python3", methods="password,token"))
        self.plugins("password", "token")
        self.assertNotIn("OS_AUTH__METHODS", self.start("/usr/bin/python3", methods="password,token"))

    def test_methods_of_the_user_stay_as_they_are(self):
        self.plugins("password", "ec2credential")
        (self.folder / "keystone.conf").write_text("[auth]\nmethods = password,token\n", encoding="utf-8")
        (self.folder / "secret.conf").write_text("[auth]\nmethods = password\n", encoding="utf-8")
        self.assertNotIn("OS_AUTH__METHODS", self.start("/usr/bin/python3", methods="password,token"))
        environment = {"OS_AUTH__METHODS": "token"}
        self.assertEqual(environment, self.start("/usr/bin/python3", methods="password", environment=environment))

    def test_a_configuration_that_cannot_be_read_is_left_to_keystone(self):
        self.plugins("ec2credential")
        (self.folder / "keystone.conf").write_text("methods = password\n", encoding="utf-8")
        self.assertNotIn("OS_AUTH__METHODS", self.start("/usr/bin/python3", methods="password"))

    def test_uwsgi_imports_keystone_before_it_forks(self):
        for program in ["/usr/bin/uwsgi-core", "/var/lib/openstack/bin/uwsgi"]:
            with self.subTest(program):
                self.loaded.clear()
                for name in [name for name in sys.modules if name.startswith("keystone")]:
                    del sys.modules[name]
                self.start(program)
                self.assertEqual(self.loaded, ["keystone.server.wsgi"])

    def test_what_was_imported_stays_shared_and_the_collector_goes_on(self):
        for broken in (False, True):
            with self.subTest(broken=broken):
                if broken:
                    (self.folder / "keystone/server/wsgi.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
                self.addCleanup(gc.unfreeze)
                before = gc.get_freeze_count()
                self.start("/usr/bin/uwsgi-core")
                self.assertGreater(gc.get_freeze_count(), before)
                self.assertTrue(gc.isenabled())
                gc.unfreeze()

    def test_a_program_imports_what_it_asks_for(self):
        self.start("/usr/bin/python3.11")
        self.assertEqual(self.loaded, [])

    def test_the_application_that_was_imported_before_answers_errors(self):
        self.start("/usr/bin/uwsgi-core")
        wsgi = importlib.import_module("keystone.server.wsgi")
        self.assertEqual(wsgi.initialize_public_application()[0], "answering")

    def test_the_identity_provider_is_loaded_when_it_is_used(self):
        self.start("/usr/bin/python3.11")
        provider = importlib.import_module("keystone.federation.idp")
        self.assertEqual(self.loaded, [])
        self.assertIsNotNone(provider.GENERATOR)
        self.assertEqual(self.loaded, ["keystone.federation.idp"])

    def test_threads_find_the_identity_provider_loaded(self):
        self.start("/usr/bin/uwsgi-core", threads=True)
        self.assertEqual(self.loaded, ["keystone.federation.idp", "keystone.server.wsgi"])

    def test_a_program_has_one_thread_whatever_uwsgi_has(self):
        self.start("/usr/bin/python3.11", threads=True)
        importlib.import_module("keystone.server.wsgi")
        self.assertEqual(self.loaded, ["keystone.server.wsgi"])

    def test_what_bootstrap_tries_counts_as_no_failed_login(self):
        for environment, counted in [({"OS_BOOTSTRAP_PASSWORD": "refused"}, 0), ({}, 5)]:
            with self.subTest(environment):
                sys.modules.pop("keystone.identity.backends.sql", None)
                self.start("/usr/bin/python3.11", environment=environment)
                backend = importlib.import_module("keystone.identity.backends.sql").Identity()
                for _ in range(5):
                    backend.authenticate()
                self.assertEqual(backend.failures, counted)

    def test_an_import_that_fails_is_left_to_the_processes(self):
        (self.folder / "keystone/server/wsgi.py").write_text("import nothing_of_this_name\n", encoding="utf-8")
        self.start("/usr/bin/uwsgi-core")
        with self.assertRaisesRegex(ImportError, "nothing_of_this_name"):
            importlib.import_module("keystone.server.wsgi")


if __name__ == "__main__":
    unittest.main()
