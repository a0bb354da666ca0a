#!/usr/bin/env python3
"""Compares the requests of the operators to the API server with their permissions.

Usage: rbac.py [--complete]
Reads the audit log and the roles of the current kubectl cluster, and fails if a
request was forbidden because the roles do not allow it. With --complete, which
requires the log of all suites, it also fails if a permission was never used.
"""

import fnmatch
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACCOUNTS = tuple(f"system:serviceaccount:{main.parent.name}-system:{main.parent.name}-operator"
                 for main in sorted(ROOT.glob("operators/*/main.go")) if (main.parent / "api").is_dir())

# Permissions that no request shows, by operator, resource and verb; * stands for any.
SILENT = {
    # Setting blockOwnerDeletion requires it where the admission plugin
    # OwnerReferencesPermissionEnforcement is on, as in OpenShift.
    ("*", "*/finalizers", "update"),
    # A repeated event is a patch of the first.
    ("*", "events", "patch"),
    # A Deployment that an earlier version has created may have another selector.
    ("*", "deployments", "delete"),
    # The local cluster has no cert-manager.
    ("*", "certificates", "*"),
    # An operator can only grant the accounts of rotations what it may do itself.
    ("keystone-operator", "secrets", "patch"),
    # A label that was removed is restored.
    ("keystone-operator", "configmaps", "patch"),
    # A SecretAggregate may get another target.
    ("c5c3-operator", "secrets", "delete"),
    # A control plane may stop managing its Keystone.
    ("c5c3-operator", "networkpolicies", "delete"),
}


def short(account):
    return account.rpartition(":")[2]


def requests(lines):
    """Returns the used and the refused requests, as (account, group, resource, verb)."""
    used, refused = set(), set()
    for line in lines:
        event = json.loads(line)
        ref = event.get("objectRef")
        if ref is None or event["user"]["username"] not in ACCOUNTS:
            continue
        resource = "/".join(filter(None, (ref["resource"], ref.get("subresource"))))
        key = (short(event["user"]["username"]), ref.get("apiGroup", ""), resource)
        if event.get("annotations", {}).get("authorization.k8s.io/decision") == "forbid":
            refused.add(key + (event["verb"],))
            continue
        used.add(key + (event["verb"],))
        # A server-side apply of an object that does not exist needs both verbs.
        if event["verb"] == "patch" and event.get("responseStatus", {}).get("code") == 201:
            used.add(key + ("create",))
    return used, refused


def grants(items):
    """Returns the permissions that roles and their bindings grant, as (account, group, resource, verb)."""
    roles = {(o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]): o.get("rules") or [] for o in items}
    granted = set()
    for binding in items:
        for subject in binding.get("subjects") or []:
            account = ":".join(("system", "serviceaccount", subject.get("namespace", ""), subject["name"]))
            if account not in ACCOUNTS:
                continue
            ref = binding["roleRef"]
            namespace = binding["metadata"].get("namespace") if ref["kind"] == "Role" else None
            for rule in roles.get((ref["kind"], namespace, ref["name"]), []):
                granted |= {(short(account), group, resource, verb) for group in rule.get("apiGroups", [])
                            for resource in rule.get("resources", []) for verb in rule["verbs"]}
    return granted


def silent(grant, used):
    account, group, resource, verb = grant
    # If the API server cannot stream a list with the watch, the list is requested.
    streamed = verb == "list" and (account, group, resource, "watch") in used
    # An apply to the name of a foreign object reads that object to name its owner.
    asks = verb == "get" and (account, group, resource, "patch") in used
    return streamed or asks or any(
        all(fnmatch.fnmatchcase(value, pattern) for value, pattern in zip((account, resource, verb), known)) for known in SILENT)


def problems(used, refused, granted):
    """Returns the forbidden requests that the roles do not grant, one line each. A request that the
    roles grant was refused while a chart was being removed together with them.
    """
    missing = sorted(refused - granted)
    found = [f"{account} was refused: {verb} {resource}.{group}" for account, group, resource, verb in missing]
    return found if used else found + ["the audit log has no request of an operator"]


def idle(used, granted):
    """Returns the permissions that were granted but not used, one line each."""
    left = sorted(grant for grant in granted - used if not silent(grant, used))
    return [f"{account} never used its permission: {verb} {resource}.{group}" for account, group, resource, verb in left]


def kubectl(*arguments):
    return subprocess.run(("kubectl", *arguments), check=True, capture_output=True, text=True).stdout


def main(arguments):
    nodes = kubectl("get", "nodes", "--selector=node-role.kubernetes.io/control-plane", "--output=name").split()
    logs = [kubectl("get", "--raw", f"/api/v1/nodes/{node.removeprefix('node/')}/proxy/logs/kubernetes/audit.log") for node in nodes]
    used, refused = requests("".join(logs).splitlines())
    roles = json.loads(kubectl("get", "clusterroles,clusterrolebindings,roles,rolebindings", "--all-namespaces", "--output=json"))
    granted = grants(roles["items"])
    found = problems(used, refused, granted)
    if "--complete" in arguments:
        found += idle(used, granted)
    print("\n".join(found or ["no request was refused"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
