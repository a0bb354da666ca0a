"""Tests of rbac.py."""

import json
import unittest

import rbac

ACCOUNT = "system:serviceaccount:keystone-system:keystone-operator"


def event(verb, resource="keystones", code=200, decision="allow", user=ACCOUNT, **ref):
    return json.dumps({
        "user": {"username": user}, "verb": verb, "objectRef": {"apiGroup": "g", "resource": resource, **ref},
        "responseStatus": {"code": code}, "annotations": {"authorization.k8s.io/decision": decision},
    })


def roles(*verbs, resource="keystones"):
    subject = {"kind": "ServiceAccount", "namespace": "keystone-system", "name": "keystone-operator"}
    return [
        {"kind": "Role", "metadata": {"namespace": "n", "name": "r"},
         "rules": [{"apiGroups": ["g"], "resources": [resource], "verbs": list(verbs)}]},
        # A role of the same name grants nothing here.
        {"kind": "Role", "metadata": {"namespace": "other", "name": "r"},
         "rules": [{"apiGroups": ["g"], "resources": ["nodes"], "verbs": ["delete"]}]},
        {"kind": "RoleBinding", "metadata": {"namespace": "n", "name": "b"}, "subjects": [subject],
         "roleRef": {"kind": "Role", "name": "r"}},
    ]


class RBAC(unittest.TestCase):
    def idle(self, events, granted):
        return rbac.idle(rbac.requests(events)[0], rbac.grants(granted))

    def problems(self, events, granted=()):
        return rbac.problems(*rbac.requests(events), rbac.grants(granted))

    def test_exactly_what_is_asked_for_is_fine(self):
        lines = [event("get"), event("list"), event("get", resource="nodes", user="somebody"), json.dumps({"user": {"username": ACCOUNT}})]
        self.assertEqual(self.idle(lines, roles("get", "list")), [])
        self.assertEqual(self.problems(lines), [])

    def test_too_much_is_named(self):
        self.assertEqual(self.idle([event("get")], roles("get", "delete")), ["keystone-operator never used its permission: delete keystones.g"])

    def test_too_little_is_a_problem(self):
        lines = [event("get"), event("patch", decision="forbid", subresource="status")]
        self.assertEqual(self.problems(lines), ["keystone-operator was refused: patch keystones/status.g"])

    def test_a_refusal_while_the_roles_are_away_is_none(self):
        lines = [event("get"), event("update", decision="forbid")]
        self.assertEqual(self.problems(lines, roles("get", "update")), [])
        self.assertEqual(self.problems(lines, roles("get")), ["keystone-operator was refused: update keystones.g"])

    def test_an_apply_that_creates_takes_both_verbs(self):
        self.assertEqual(self.idle([event("patch", code=201)], roles("patch", "create")), [])
        self.assertEqual(self.idle([event("patch")], roles("patch", "create")), ["keystone-operator never used its permission: create keystones.g"])

    def test_a_right_that_no_request_shows_is_left_out(self):
        self.assertEqual(self.idle([event("get", resource="a")], roles("update", resource="keystones/finalizers")), [])
        self.assertEqual(self.idle([event("watch")], roles("list", "watch")), [])
        self.assertEqual(self.idle([event("patch")], roles("get", "patch")), [])
        self.assertEqual(self.idle([event("create", resource="events")], roles("create", "patch", resource="events")), [])
        self.assertEqual(self.idle([event("list", resource="pods")], roles("list", "patch", resource="pods")),
                         ["keystone-operator never used its permission: patch pods.g"])

    def test_an_empty_log_proves_nothing(self):
        self.assertEqual(self.problems([]), ["the audit log has no request of an operator"])


if __name__ == "__main__":
    unittest.main()
