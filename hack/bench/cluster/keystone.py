"""A Keystone to measure."""

import base64
import json
import os

from kube import NAMESPACE, Namespace, apply, get, kubectl, metadata, namespaced, replace, secret, until, wait

KEYSTONE = "keystone/keystone"
# The labels of the API pods, which those of Jobs do not have.
API_PODS = "--selector=app.kubernetes.io/name=keystone,app.kubernetes.io/instance=keystone"
# What the processes of a container use, with either version of control groups.
USAGE = (
    "cd /sys/fs/cgroup; grep --no-filename --extended-regexp '^([0-9]+|usage_usec .*|(total_rss|anon) .*)$' "
    "cpuacct/cpuacct.usage cpu.stat memory/memory.stat memory.stat 2>/dev/null || true"
)
# The factors to CPU seconds.
CPU_UNITS = {"": 1e-9, "usage_usec": 1e-6}


def sql(statement):
    """Runs a statement on the quick start's MariaDB. The password does not leave the pod."""
    command = 'MYSQL_PWD=$MARIADB_ROOT_PASSWORD exec mariadb -uroot -e "$0"'
    kubectl("exec", "--namespace=openstack", "mariadb-0", "--", "sh", "-c", command, statement)


class Database(Namespace):
    """A namespace with a database on the quick start's MariaDB."""

    def __enter__(self):
        super().__enter__()
        sql(
            f"CREATE DATABASE {NAMESPACE} CHARACTER SET utf8; "
            f"CREATE USER {NAMESPACE} IDENTIFIED BY '{NAMESPACE}'; GRANT ALL ON {NAMESPACE}.* TO {NAMESPACE}"
        )
        apply(secret("keystone-db", username=NAMESPACE, password=NAMESPACE), secret("keystone-admin", password=NAMESPACE))
        return self

    def remove(self):
        super().remove()
        sql(f"DROP DATABASE IF EXISTS {NAMESPACE}; DROP USER IF EXISTS {NAMESPACE}")


def keystone(tag="2025.1", **spec):
    return {
        "apiVersion": "keystone.openstack.c5c3.io/v1alpha1",
        "kind": "Keystone",
        "metadata": metadata("keystone"),
        "spec": {
            "image": {"repository": "ghcr.io/c5c3/keystone", "tag": tag},
            "database": {"host": "mariadb.openstack.svc", "database": NAMESPACE, "secretRef": {"name": "keystone-db"}},
            "cache": {"servers": ["memcached.openstack.svc:11211"]},
            "bootstrap": {"adminPasswordSecretRef": {"name": "keystone-admin"}},
            **spec,
        },
    }


def fernet_keys(count):
    """Returns a Secret of token keys that a new Keystone adopts."""
    return secret("keystone-fernet-keys", **{str(key): base64.urlsafe_b64encode(os.urandom(32)).decode() for key in range(count)})


def pods():
    return get("pods", API_PODS)["items"]


def rolled_out():
    """Waits until the Keystone is ready for its current spec and has no other pods."""

    def current():
        found = get(KEYSTONE)
        return found["metadata"]["generation"] == found.get("status", {}).get("observedGeneration")

    until("the operator to read the Keystone", current)
    wait(KEYSTONE)
    namespaced("rollout", "status", "deployment/keystone", "--timeout=10m")
    until("the earlier pods to end", lambda: not any("deletionTimestamp" in pod["metadata"] for pod in pods()))


def change(**spec):
    replace(KEYSTONE, spec)
    rolled_out()


def usage():
    """Returns the CPU seconds and the MiB of the only API pod."""
    return parse_usage(namespaced("exec", pods()[0]["metadata"]["name"], "--", "sh", "-c", USAGE))


def parse_usage(text):
    cpu, memory = 0.0, 0.0
    for line in text.splitlines():
        name, _, number = line.rpartition(" ")
        if name in CPU_UNITS:
            cpu = int(number) * CPU_UNITS[name]
        else:
            memory = int(number) / 2**20
    return cpu, memory


def status():
    return get(KEYSTONE)["status"]


def exists(*resource):
    return bool(namespaced("get", *resource, "--ignore-not-found", "--output=name").strip())


def data(name):
    return json.dumps(get("secret", name).get("data"), sort_keys=True)
