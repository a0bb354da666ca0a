"""Tests of identity_domain_removal.py, with a Keystone and a database that answer as each test says."""

import contextlib
import io
import json
import pathlib
import re
import sys
import types
import unittest
from unittest import mock

FILE = pathlib.Path(__file__).with_name("identity_domain_removal.py")
ANNOTATION = "keystone.openstack.c5c3.io/delete-domain"
WANTED = {"id": "5f0b", "agreed": "", "annotation": ANNOTATION}


class IdentityDomainRemoval(unittest.TestCase):
    def setUp(self):
        self.exception = types.SimpleNamespace(**{
            name: type(name, (Exception,), {}) for name in (
                "DomainNotFound", "MappingNotFound", "ResourceUpdateForbidden", "ResourceDeleteForbidden")})
        self.provider = mock.MagicMock()
        self.resources = self.provider.ProviderAPIs.resource_api
        self.assignments = self.provider.ProviderAPIs.assignment_api
        self.domain = {"id": "5f0b", "name": "staff", "enabled": True}
        self.resources.get_domain.side_effect = lambda identifier: dict(self.domain)
        self.resources.update_domain.side_effect = lambda identifier, changes: self.domain.update(changes)
        self.rows = {"entity_type, public_id": [("user", "u1"), ("group", "g1")]}
        self.sql = mock.MagicMock()
        self.sql.session_for_read.return_value.__enter__.return_value.execute.side_effect = self.execute

    def execute(self, query, parameters):
        """Answers the queries whose text begins with a key of rows."""
        self.assertEqual(parameters, {"id": "5f0b"})
        found = [rows for begin, rows in self.rows.items() if query.startswith("SELECT " + begin)]
        return types.SimpleNamespace(fetchall=lambda: found[0] if found else [])

    def run_script(self, **changes):
        """Returns the exit code, and what the script says."""
        keystone = types.ModuleType("keystone")
        keystone.exception = self.exception
        self.verification = mock.MagicMock()
        modules = {
            "identity_domain": self.verification, "sqlalchemy": mock.MagicMock(text=str), "keystone": keystone,
            "keystone.common": types.SimpleNamespace(provider_api=self.provider, sql=self.sql),
        }
        said = io.StringIO()
        with mock.patch.dict(sys.modules, modules), contextlib.redirect_stderr(said), \
                mock.patch.object(sys, "argv", [FILE.name, json.dumps({**WANTED, **changes})]):
            try:
                exec(compile(FILE.read_text(encoding="utf-8"), FILE, "exec"), {"__name__": "__main__", "__file__": str(FILE)})
            except SystemExit as end:
                return end.code, said.getvalue().strip()

    def fill(self):
        """Gives the domain a user and a group with a role each in its project."""
        self.rows = {
            "actors.public_id FROM (SELECT public_id FROM id_mapping WHERE domain_id = :id AND entity_type = 'user'": [("u1",)],
            "actors.public_id FROM (SELECT public_id FROM id_mapping WHERE domain_id = :id AND entity_type = 'group'": [("g1",)],
            "id FROM project": [("p1",)],
            "type, actor_id": [("UserProject", "u1", "p1", "r1", 0), ("GroupProject", "g1", "p1", "r1", 0)],
            "entity_type, public_id": [("user", "u1"), ("group", "g1"), ("user", "u2")],
        }

    def agreement(self, said):
        return re.search(re.escape(ANNOTATION) + "=([0-9a-f]{12})", said)[1]

    def is_deleted(self):
        return self.resources.delete_domain.called

    def test_a_domain_that_does_not_exist_is_left_at_that(self):
        self.resources.get_domain.side_effect = self.exception.DomainNotFound
        self.assertEqual(self.run_script(), (0, ""))
        self.assertFalse(self.is_deleted())

    def test_the_mapping_of_a_provider_goes_with_the_domain(self):
        self.assertEqual(self.run_script(), (0, ""))
        self.provider.ProviderAPIs.federation_api.delete_mapping.assert_called_once_with("5f0b")
        self.provider.ProviderAPIs.federation_api.delete_mapping.side_effect = self.exception.MappingNotFound
        self.assertEqual(self.run_script(), (0, ""))
        self.resources.get_domain.side_effect = self.exception.DomainNotFound
        self.assertEqual(self.run_script(), (0, ""))
        self.assertEqual(self.provider.ProviderAPIs.federation_api.delete_mapping.call_count, 3)

    def test_an_empty_domain_is_deleted_without_a_question(self):
        self.assertEqual(self.run_script(), (0, ""))
        self.assertFalse(self.domain["enabled"])
        self.resources.delete_domain.assert_called_once_with("5f0b")

    def test_what_is_in_the_domain_is_counted_and_stays_without_an_agreement(self):
        self.fill()
        for agreed in ("", "0123456789ab"):
            code, said = self.run_script(agreed=agreed)
            self.assertEqual(code, 3)
            self.assertIn("domain staff these would be deleted: users with roles: 1, groups with roles: 1, projects: 1, role assignments: 2.", said)
            self.assertNotIn("in the database", said)
            self.assertLess(len(said), 400)
        self.assertTrue(self.domain["enabled"])
        self.assertFalse(self.is_deleted() or self.assignments.delete_user_assignments.called)

    def test_with_the_agreement_everything_is_deleted(self):
        self.fill()
        agreed = self.agreement(self.run_script()[1])
        self.assertEqual(self.run_script(agreed=agreed), (0, ""))
        self.assertFalse(self.domain["enabled"])
        self.assertEqual([call.args for call in self.assignments.delete_user_assignments.call_args_list], [("u1",), ("u2",)])
        self.assignments.delete_group_assignments.assert_called_once_with("g1")
        self.provider.ProviderAPIs.id_mapping_api.purge_mappings.assert_called_once_with({"domain_id": "5f0b"})
        self.assertTrue(self.is_deleted())

    def test_an_agreement_counts_for_what_was_there(self):
        self.fill()
        agreed = self.agreement(self.run_script()[1])
        self.rows["id FROM project"] = [("p2",)]
        code, said = self.run_script(agreed=agreed)
        self.assertEqual(code, 3)
        self.assertNotEqual(self.agreement(said), agreed)
        self.assertFalse(self.is_deleted())

    def test_the_order_of_rows_does_not_matter(self):
        self.fill()
        agreed = self.agreement(self.run_script()[1])
        self.rows["type, actor_id"].reverse()
        self.assertEqual(self.agreement(self.run_script()[1]), agreed)

    def test_an_interrupted_deletion_goes_on(self):
        self.fill()
        agreed = self.agreement(self.run_script()[1])
        self.resources.delete_domain.side_effect = RuntimeError("s3cret")
        self.assertEqual(self.run_script(agreed=agreed), (1, "deleting the domain failed (RuntimeError)"))
        del self.rows["type, actor_id"]
        self.resources.delete_domain.side_effect = None
        self.assertEqual(self.run_script(agreed=agreed), (0, ""))

    def test_a_domain_that_was_enabled_again_is_asked_about(self):
        self.fill()
        self.domain["forge_deletion_agreed"] = "0123456789ab"
        self.assertEqual(self.run_script()[0], 3)

    def test_a_domain_that_the_user_has_disabled_is_asked_about(self):
        self.fill()
        self.domain["enabled"] = False
        self.assertEqual(self.run_script()[0], 3)

    def test_an_immutable_domain_is_named(self):
        for call, failure in (("update_domain", "ResourceUpdateForbidden"), ("delete_domain", "ResourceDeleteForbidden")):
            self.setUp()
            getattr(self.resources, call).side_effect = getattr(self.exception, failure)
            code, said = self.run_script()
            self.assertEqual(code, 3)
            self.assertIn("staff or a project in it is immutable", said)


if __name__ == "__main__":
    unittest.main()
