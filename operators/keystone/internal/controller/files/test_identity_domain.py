"""Tests of identity_domain.py, with a Keystone and a directory that answer as each test says."""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

import identity_job

FILE = pathlib.Path(__file__).with_name("identity_domain.py")
WANTED = {
    "name": "staff", "id": "5f0b", "description": "people", "adopt": False, "file": "/domains/keystone.staff.conf", "certificates": "/domains/ca.pem",
}
TREE, GROUPS = "ou=people,dc=example,dc=com", "ou=groups,dc=example,dc=com"


class Failure(Exception):
    """A base of the exceptions of Keystone and of the directory."""


def failures(module, *names, base=Failure):
    for name in names:
        setattr(module, name, type(name, (base,), {}))
    return module


class IdentityDomain(unittest.TestCase):
    def setUp(self):
        self.ldap = failures(mock.MagicMock(), "LDAPError")
        failures(self.ldap, "INVALID_CREDENTIALS", "NO_SUCH_OBJECT", "INVALID_DN_SYNTAX", "SERVER_DOWN", "CONNECT_ERROR", "TIMEOUT",
                 "BUSY", base=self.ldap.LDAPError)
        self.exception = failures(types.SimpleNamespace(), "DomainNotFound", "Conflict", "LDAPInvalidCredentialsError", "LDAPServerConnectionError")
        self.provider = mock.MagicMock()
        self.resources = self.provider.ProviderAPIs.resource_api
        self.resources.get_domain_by_name.side_effect = self.exception.DomainNotFound
        self.resources.create_domain.side_effect = lambda identifier, domain: domain
        self.sql = mock.MagicMock()
        self.stored = self.sql.session_for_read.return_value.__enter__.return_value.execute.return_value.scalar
        self.stored.return_value = 0
        self.conf = mock.MagicMock()
        self.conf.CONF.identity.default_domain_id = "default"
        self.cfg = mock.MagicMock()
        self.options = self.cfg.ConfigOpts.return_value
        self.options.ldap = types.SimpleNamespace(
            url="ldaps://ldap.example.com", user_tree_dn=TREE, group_tree_dn=GROUPS, tls_cacertfile="/ca.pem")
        self.backend = mock.MagicMock()
        self.connect = self.backend.Identity.return_value.user.get_connection
        self.search = self.connect.return_value.__enter__.return_value.search_s
        self.connect.return_value.__exit__.return_value = False

    def run_script(self, **changes):
        """Returns the exit code, what the script says, and its termination message."""
        keystone = types.ModuleType("keystone")
        keystone.conf, keystone.exception = self.conf, self.exception
        modules = {
            "ldap": self.ldap, "sqlalchemy": mock.MagicMock(text=str), "oslo_config": types.SimpleNamespace(cfg=self.cfg),
            "keystone": keystone, "keystone.conf": self.conf,
            "keystone.common": types.SimpleNamespace(provider_api=self.provider, sql=self.sql),
            "keystone.identity": types.ModuleType("keystone.identity"),
            "keystone.identity.backends": types.SimpleNamespace(ldap=self.backend),
            "keystone.server": types.SimpleNamespace(backends=mock.MagicMock()),
        }
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, modules), contextlib.redirect_stderr(said), \
                mock.patch.object(sys, "argv", ["identity_domain.py", json.dumps({**WANTED, **changes})]):
            message = pathlib.Path(folder, "message")
            try:
                with mock.patch.object(identity_job, "SAID", str(message)):
                    exec(compile(FILE.read_text(encoding="utf-8"), FILE, "exec"), {"__name__": "__main__", "__file__": str(FILE)})
            except SystemExit as end:
                return end.code, said.getvalue().strip(), message.read_text(encoding="utf-8") if message.exists() else ""

    def exists(self, identifier):
        self.resources.get_domain_by_name.side_effect = [{"id": identifier}]

    def test_a_domain_is_created_with_the_id_of_its_backend(self):
        self.assertEqual(self.run_script(), (0, "", "5f0b"))
        self.resources.create_domain.assert_called_once_with(
            "5f0b", {"id": "5f0b", "name": "staff", "description": "people", "enabled": True})

    def test_a_domain_of_the_backend_is_found_again(self):
        self.exists("5f0b")
        self.assertEqual(self.run_script(), (0, "", "5f0b"))
        self.resources.create_domain.assert_not_called()

    def test_a_domain_of_others_is_adopted_only_if_that_is_wanted(self):
        self.exists("other")
        code, said, _ = self.run_script()
        self.assertEqual(code, 3)
        self.assertIn("this backend has not created it", said)
        self.exists("other")
        self.assertEqual(self.run_script(adopt=True), (0, "", "other"))

    def test_nothing_is_created_to_be_adopted(self):
        code, said, _ = self.run_script(adopt=True)
        self.assertEqual(code, 3)
        self.assertIn("no domain staff to adopt", said)
        self.resources.create_domain.assert_not_called()

    def test_the_default_domain_is_refused(self):
        self.exists("default")
        code, said, _ = self.run_script(adopt=True)
        self.assertEqual(code, 3)
        self.assertIn("is the default domain", said)

    def test_a_domain_that_was_renamed_is_named(self):
        self.resources.create_domain.side_effect = self.exception.Conflict
        code, said, _ = self.run_script()
        self.assertEqual(code, 3)
        self.assertIn("rename it to staff", said)

    def test_users_in_the_database_do_not_disappear(self):
        self.exists("other")
        self.stored.return_value = 7
        code, said, _ = self.run_script(adopt=True)
        self.assertEqual(code, 3)
        self.assertIn("7 users in the database", said)

    def test_what_the_directory_refuses_is_named(self):
        for failure, code, says in (
            (self.ldap.INVALID_CREDENTIALS, 3, "bindCredentialsSecretRef"), (self.exception.LDAPInvalidCredentialsError, 3, "bindCredentialsSecretRef"),
            (self.ldap.INVALID_DN_SYNTAX, 3, "is not the name of an entry (DN)"),
            (self.ldap.SERVER_DOWN, 1, "no connection to ldaps://ldap.example.com"),
            (self.exception.LDAPServerConnectionError, 1, "no connection to ldaps://ldap.example.com"), (self.ldap.BUSY, 1, "answers BUSY"),
        ):
            self.connect.side_effect = failure("s3cret")
            got, said, _ = self.run_script()
            self.assertEqual(got, code, said)
            self.assertIn(says, said)
            self.assertNotIn("s3cret", said)

    def test_a_tree_that_is_not_there_is_named(self):
        self.search.side_effect = [["entry"], self.ldap.NO_SUCH_OBJECT("s3cret")]
        code, said, _ = self.run_script()
        self.assertEqual((code, said), (3, "the directory has no entry " + GROUPS + ", which is spec.ldap.groups.tree"))
        self.search.side_effect = [[]]
        code, said, _ = self.run_script()
        self.assertEqual((code, said), (3, "the account may not read " + TREE + ", which is spec.ldap.users.tree"))

    def test_only_the_certificates_of_this_directory_count(self):
        self.run_script()
        self.options.set_override.assert_any_call("tls_cacertfile", "/domains/ca.pem", "ldap")

    def test_a_failure_shows_nothing_of_a_server(self):
        self.resources.get_domain_by_name.side_effect = RuntimeError("s3cret")
        self.assertEqual(self.run_script()[:2], (1, "verifying the domain failed (RuntimeError)"))


if __name__ == "__main__":
    unittest.main()
