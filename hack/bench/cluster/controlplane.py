"""The time from the creation of a ControlPlane to Ready, and how it is spent."""

import json
import time

from kube import NAMESPACE, Namespace, apply, get, kubectl, metadata, namespaced, until, wait

NAME = "cluster-controlplane"
# What is waited for, in its order.
KINDS = {"MariaDB": "mariadb", "Keystone": "keystone", "Ready": "controlplane"}
COLUMNS = {column: 1 for column in KINDS}
SCENARIOS = ["controlplane"]


class Stored(Namespace):
    """A namespace whose passwords are in the secret store."""

    def __enter__(self):
        super().__enter__()
        for path, data in {
            f"openstack/keystone/{NAMESPACE}/controlplane/db": {"username": "keystone", "password": NAMESPACE},
            f"bootstrap/{NAMESPACE}/controlplane-keystone/admin": {"password": NAMESPACE},
        }.items():
            put = ("exec", "--stdin", "--namespace=openbao-system", "openbao-0", "--", "bao", "kv", "put", f"kv-v2/{path}", "-")
            kubectl(*put, stdin=json.dumps(data))
        return self

    def remove(self):
        # Its entries in Keystone are removed while Keystone is still there.
        if kubectl("get", "namespace", NAMESPACE, "--ignore-not-found", "--output=name"):
            namespaced("delete", "controlplane", "--all", "--timeout=5m")
        super().remove()


CONTROLPLANE = {
    "apiVersion": "c5c3.io/v1alpha1",
    "kind": "ControlPlane",
    "metadata": metadata("controlplane"),
    "spec": {
        "openStackRelease": "2025.1",
        "infrastructure": {"database": {"replicas": 1, "storageSize": "512Mi"}, "cache": {"replicas": 1}},
        "services": {"keystone": {"replicas": 1}},
    },
}


def measure(_options):
    with Stored():
        started = time.monotonic()
        apply(CONTROLPLANE)
        figures = {}
        for column, kind in KINDS.items():
            until(f"a {column}", lambda: get(kind)["items"])
            wait(f"{kind}/{get(kind)['items'][0]['metadata']['name']}")
            figures[column] = time.monotonic() - started
        yield "controlplane", 1, figures
