"""Failed requests and response times of an API while it changes."""

import contextlib
import json
import time

import loadgen
from keystone import KEYSTONE, change, data, exists, keystone, rolled_out, status
from kube import NAMESPACE, TIMEOUT, Namespace, apply, kubectl, metadata, namespaced, patch, secret, until, wait

NAME = "cluster-changes"
PODS = 2
KINDS = {"version": "Version", "validate": "Validated", "issue": "Issued"}
COLUMNS = {"Requests": 0, "Failed": 0, "Seconds": 0, **{f"{title}, p99 ms": 0 for title in KINDS.values()}}
# Between these there are migrations, but OpenStack supports no upgrade from the one to the other.
RELEASES = ("2022.2", "2025.1")
OPERATOR = ("--namespace=keystone-system", "deployment/keystone-operator")
PERMIT = "--allow-unsupported-upgrades"


def quiet():
    """Changes nothing."""


def rotation():
    before = data("keystone-fernet-keys")
    namespaced("create", "job", "--from=cronjob/keystone-fernet-rotate", "rotate")
    wait("job/rotate", "--for=condition=Complete")
    until("the new keys", lambda: data("keystone-fernet-keys") != before)


def configuration():
    change(extraConfig={"token": {"expiration": "7200"}})


def password():
    apply(secret("keystone-db", username="ignored", password=NAMESPACE + "-changed"))
    until("the second login", lambda: exists("users.k8s.mariadb.com", "keystone-standby"))
    until("the first login again", lambda: not exists("users.k8s.mariadb.com", "keystone-standby"))
    rolled_out()


def restart_operator(args):
    container = {"name": "manager", "args": args}
    kubectl("patch", *OPERATOR, "--patch", json.dumps({"spec": {"template": {"spec": {"containers": [container]}}}}))
    kubectl("rollout", "status", *OPERATOR, TIMEOUT)


@contextlib.contextmanager
def unsupported_upgrades():
    """Lets the operator of the cluster skip releases meanwhile."""
    args = json.loads(kubectl("get", *OPERATOR, "--output=json"))["spec"]["template"]["spec"]["containers"][0]["args"]
    print(f"the operator runs with {PERMIT} until the upgrade is measured")
    restart_operator([*args, PERMIT])
    try:
        yield
    finally:
        restart_operator(args)


def upgrade():
    patch(KEYSTONE, {"image": {"tag": RELEASES[1]}})
    until("the upgrade", lambda: status().get("installedRelease") == RELEASES[1])
    rolled_out()


# All but the upgrade are measured with the release that it leads to.
CHANGES = {
    "nothing": quiet,
    "key rotation": rotation,
    "configuration": configuration,
    "database password": password,
}
SCENARIOS = [*CHANGES, "upgrade"]

PROBE = {"tcpSocket": {"port": 3306}, "initialDelaySeconds": 1, "periodSeconds": 5, "timeoutSeconds": 10, "failureThreshold": 60}
MARIADB = {
    "apiVersion": "k8s.mariadb.com/v1alpha1",
    "kind": "MariaDB",
    "metadata": metadata("mariadb"),
    "spec": {"replicas": 1, "storage": {"size": "256Mi"}, "startupProbe": PROBE, "readinessProbe": PROBE, "livenessProbe": PROBE},
}
DATABASE = {"clusterRef": {"name": "mariadb"}, "database": NAMESPACE, "secretRef": {"name": "keystone-db"}}


def measure(options):
    with Namespace():
        apply(MARIADB, secret("keystone-db", username="ignored", password=NAMESPACE), secret("keystone-admin", password=NAMESPACE))
        wait("mariadb/mariadb")
        apply(keystone(RELEASES[0], replicas=PODS, database=DATABASE))
        wait(KEYSTONE)
        with unsupported_upgrades():
            upgraded = figures(upgrade, options.rate, options.requests)
        yield "upgrade", PODS, upgraded
        for name, function in CHANGES.items():
            yield name, PODS, figures(function, options.rate, options.requests)


def figures(function, rate, requests):
    loadgen.start(f"-rate={rate}")
    started = time.monotonic()
    function()
    took = time.monotonic() - started
    result = loadgen.stop(requests)
    if result["failures"]:
        print(json.dumps(result["errors"], indent=1))
    latencies = {f"{title}, p99 ms": result["kinds"][kind]["p99Ms"] for kind, title in KINDS.items()}
    return {"Requests": result["requests"], "Failed": result["failures"], "Seconds": took, **latencies}
