"""Tests of identity_provider.py, with a Keystone that stores what it is told, and a provider that answers as each test says."""

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

FILE = pathlib.Path(__file__).with_name("identity_provider.py")
ISSUER = "https://login.example.com/realms/company/"
RULES = [{"local": [{"user": {"name": "{0}"}}], "remote": [{"type": "OIDC-email"}]}]
GROUPS = [{"name": "Users", "description": "all", "roleAssignments": [{"role": "member", "project": "cloud"}, {"role": "reader"}]}]
WANTED = {
    "name": "company", "id": "5f0b", "description": "people", "adopt": False, "issuer": ISSUER, "certificates": "",
    "document": ISSUER + ".well-known/openid-configuration", "identity_provider": "idp", "protocol": "openid", "block": "oidc",
}


class NotFound(Exception):
    """The base of what does not exist."""


class Failing:
    """Keystone's exceptions."""

    NotFound = NotFound

    class Conflict(Exception):
        pass


for name in ("IdentityProviderNotFound", "MappingNotFound", "FederatedProtocolNotFound", "DomainNotFound", "ProjectNotFound"):
    setattr(Failing, name, type(name, (NotFound,), {}))


class Keystone:
    """Everything that the script needs of Keystone's managers."""

    def __init__(self):
        self.idps, self.mappings, self.protocols, self.groups, self.grants, self.writes = {}, {}, {}, {}, [], 0
        self.projects = {("cloud", "5f0b"): {"id": "p1"}}

    @staticmethod
    def get(stored, key, missing):
        if key not in stored:
            raise missing
        return dict(stored[key])

    def put(self, stored, key, value):
        self.writes += 1
        stored[key] = {**stored.get(key, {}), **value}
        return stored[key]

    def get_idp(self, name):
        return self.get(self.idps, name, Failing.IdentityProviderNotFound)

    def create_idp(self, name, idp):
        for other in self.idps.values():
            if set(other["remote_ids"]) & set(idp["remote_ids"]):
                raise Failing.Conflict
        return self.put(self.idps, name, idp)

    def update_idp(self, name, idp):
        return self.put(self.idps, name, idp)

    def get_mapping(self, name):
        return self.get(self.mappings, name, Failing.MappingNotFound)

    def create_mapping(self, name, mapping):
        return self.put(self.mappings, name, mapping)

    update_mapping = create_mapping

    def get_protocol(self, idp, name):
        return self.get(self.protocols, (idp, name), Failing.FederatedProtocolNotFound)

    def create_protocol(self, idp, name, protocol):
        return self.put(self.protocols, (idp, name), protocol)

    update_protocol = create_protocol

    def list_roles(self):
        return [{"name": "member", "id": "r1"}, {"name": "reader", "id": "r2"}, {"name": "own", "id": "r3", "domain_id": "5f0b"}]

    def get_domain_by_name(self, name):
        if name != "Default":
            raise Failing.DomainNotFound
        return {"id": "default"}

    def get_project_by_name(self, name, domain):
        return self.get(self.projects, (name, domain), Failing.ProjectNotFound)

    def list_groups(self, domain_scope):
        return [dict(group) for group in self.groups.values() if group["domain_id"] == domain_scope]

    def create_group(self, group):
        return dict(self.put(self.groups, group["name"], {"id": "g-" + group["name"], **group}))

    def update_group(self, identifier, changes):
        for group in self.groups.values():
            if group["id"] == identifier:
                self.put(self.groups, group["name"], changes)

    def delete_group(self, identifier):
        self.writes += 1
        self.groups = {name: group for name, group in self.groups.items() if group["id"] != identifier}

    def list_grants(self, group_id, **target):
        return [{"id": grant["role_id"]} for grant in self.grants if {**target, "group_id": group_id, "role_id": grant["role_id"]} == grant]

    def create_grant(self, **grant):
        self.writes += 1
        self.grants.append(grant)

    def delete_grant(self, **grant):
        self.writes += 1
        if grant not in self.grants:
            raise NotFound
        self.grants.remove(grant)


class IdentityProvider(unittest.TestCase):
    def setUp(self):
        self.keystone = Keystone()
        self.domain = mock.MagicMock()
        self.domain.domain_of.return_value = "5f0b"
        self.document = {"issuer": ISSUER}

    def run_script(self, rules=RULES, groups=GROUPS, **changes):
        """Returns the exit code, what the script says, and its termination message."""
        api = self.keystone
        providers = types.SimpleNamespace(federation_api=api, role_api=api, resource_api=api, identity_api=api, assignment_api=api)
        keystone = types.ModuleType("keystone")
        keystone.exception = Failing
        modules = {
            "identity_domain": self.domain, "keystone": keystone,
            "keystone.common": types.SimpleNamespace(provider_api=types.SimpleNamespace(ProviderAPIs=providers)),
        }
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(sys.modules, modules), contextlib.redirect_stderr(said), \
                mock.patch("urllib.request.urlopen", side_effect=self.answer), mock.patch("ssl.create_default_context") as self.context:
            message, declared = pathlib.Path(folder, "message"), pathlib.Path(folder, "declared")
            declared.write_text(json.dumps({"rules": rules, "groups": groups}), encoding="utf-8")
            arguments = [FILE.name, json.dumps({**WANTED, "declared": str(declared), **changes})]
            with mock.patch.object(sys, "argv", arguments), mock.patch.object(identity_job, "SAID", str(message)):
                try:
                    exec(compile(FILE.read_text(encoding="utf-8"), FILE, "exec"), {"__name__": "__main__", "__file__": str(FILE)})
                except SystemExit as end:
                    return end.code, said.getvalue().strip(), message.read_text(encoding="utf-8") if message.exists() else ""

    def answer(self, url, **_):
        self.assertEqual(url, WANTED["document"])
        if isinstance(self.document, Exception):
            raise self.document
        return io.BytesIO(json.dumps(self.document).encode())

    def test_everything_is_created(self):
        self.assertEqual(self.run_script(), (0, "", "5f0b"))
        self.assertEqual(self.keystone.idps, {"idp": {"domain_id": "5f0b", "enabled": True, "remote_ids": [ISSUER]}})
        self.assertEqual(self.keystone.mappings["5f0b"]["rules"], RULES)
        self.assertEqual(self.keystone.protocols, {("idp", "openid"): {"mapping_id": "5f0b"}})
        self.assertEqual(self.keystone.groups["Users"]["domain_id"], "5f0b")
        self.assertEqual(self.keystone.grants, [
            {"group_id": "g-Users", "role_id": "r1", "project_id": "p1"}, {"group_id": "g-Users", "role_id": "r2", "domain_id": "5f0b"}])

    def test_another_run_changes_nothing(self):
        self.run_script()
        writes = self.keystone.writes
        self.assertEqual(self.run_script(), (0, "", "5f0b"))
        self.assertEqual(self.keystone.writes, writes)

    def test_what_somebody_has_changed_is_repaired(self):
        self.run_script()
        self.keystone.idps["idp"].update(enabled=False, remote_ids=[])
        self.keystone.mappings["5f0b"]["rules"] = []
        self.keystone.protocols["idp", "openid"]["mapping_id"] = "other"
        self.keystone.grants.clear()
        self.assertEqual(self.run_script()[0], 0)
        self.test_everything_is_created()

    def test_an_identity_provider_of_another_domain_is_refused(self):
        self.keystone.idps["idp"] = {"domain_id": "other", "enabled": True, "remote_ids": [ISSUER]}
        code, said, _ = self.run_script()
        self.assertEqual(code, 3)
        self.assertIn("the identity provider idp exists, in another domain", said)
        self.assertEqual(self.keystone.writes, 0)

    def test_an_issuer_of_another_identity_provider_is_refused(self):
        self.keystone.idps["other"] = {"domain_id": "other", "enabled": True, "remote_ids": [ISSUER]}
        code, said, _ = self.run_script()
        self.assertEqual(code, 3)
        self.assertIn("another identity provider has the issuer " + ISSUER, said)

    def test_the_issuer_has_to_be_exactly_that_of_the_provider(self):
        self.document = {"issuer": ISSUER.rstrip("/")}
        code, said, _ = self.run_script()
        self.assertEqual(code, 3)
        self.assertIn("its issuer is '%s': set spec.oidc.issuer to exactly that" % ISSUER.rstrip("/"), said)
        self.assertEqual(self.keystone.writes, 0)

    def test_a_provider_that_does_not_answer_is_named(self):
        for self.document in (OSError("s3cret"), {}, [], {"issuer": None}):
            code, said, _ = self.run_script()
            self.assertNotEqual(code, 0)
            self.assertNotIn("s3cret", said)
        self.document = TimeoutError()
        code, said, _ = self.run_script()
        self.assertEqual(code, 1)
        self.assertIn("no document of the provider at " + WANTED["document"], said)

    def test_a_provider_with_endpoints_is_not_asked(self):
        self.document = OSError()
        self.assertEqual(self.run_script(document="")[0], 0)

    def test_only_the_certificates_of_this_provider_count(self):
        self.run_script(certificates="/ca.pem")
        self.context.assert_called_once_with(cafile="/ca.pem")

    def test_what_a_role_needs_has_to_exist(self):
        for assignment, says in (
            ({"role": "owner"}, "no role owner"), ({"role": "own"}, "no role own"), ({"role": "member", "project": "x"}, "no project x"),
            ({"role": "member", "domain": "x"}, "no domain x"),
            ({"role": "member", "project": "cloud", "domain": "Default"}, "no project cloud"),
        ):
            code, said, _ = self.run_script(groups=[{"name": "g", "roleAssignments": [assignment]}])
            self.assertEqual(code, 1)
            self.assertIn(says, said)
        self.assertEqual(self.keystone.groups, {})

    def test_roles_and_groups_that_are_not_declared_any_more_go(self):
        self.run_script()
        self.assertEqual(self.run_script(groups=[{"name": "users", "roleAssignments": [{"role": "reader"}]}])[0], 0)
        self.assertEqual(self.keystone.grants, [{"group_id": "g-Users", "role_id": "r2", "domain_id": "5f0b"}])
        self.assertEqual(self.run_script(groups=None)[0], 0)
        self.assertEqual(self.keystone.groups, {})

    def test_what_others_have_made_stays(self):
        self.keystone.groups["Users"] = {"id": "g-Users", "name": "Users", "domain_id": "5f0b"}
        theirs = {"group_id": "g-Users", "role_id": "r2", "domain_id": "5f0b"}
        self.keystone.grants.append(theirs)
        self.run_script()
        self.assertEqual(self.run_script(groups=None)[0], 0)
        self.assertIn("Users", self.keystone.groups)
        self.assertEqual(self.keystone.grants, [theirs])
        self.assertEqual(self.run_script(groups=[{"name": "Users"}])[0], 0)
        self.assertEqual(self.keystone.grants, [theirs])

    def test_an_interrupted_run_forgets_no_role(self):
        create = self.keystone.create_grant
        self.keystone.create_grant = lambda **grant: (create(**grant), self.interrupt())
        self.assertEqual(self.run_script()[:2], (1, "setting up the identity provider failed (RuntimeError)"))
        self.keystone.create_grant = create
        self.assertEqual(self.run_script(groups=[{"name": "Users"}])[0], 0)
        self.assertEqual(self.keystone.grants, [])

    def interrupt(self):
        raise RuntimeError("s3cret")


if __name__ == "__main__":
    unittest.main()
