"""The CPU time of an idle cluster: of API pods without requests, of the operators and of the node."""

import json
import pathlib
import subprocess
import sys
import time

from keystone import Database, keystone, sql
from kube import NAMESPACE, READY, TIMEOUT, apply, get, kubectl, namespaced
from ready import seconds

NAME = "cluster-idle"
IDLE = "idle pod"
REST = "rest of the node"
TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
OPERATORS = subprocess.run((TOOLS / "operators.sh",), check=True, capture_output=True, text=True).stdout.split()
# The pods of each other row, by the beginning of "namespace/name". A row is the sum of its
# pods, and there is none without pods.
PODS = {f"operator {name}": f"{name}-system/" for name in OPERATORS} | {
    "MariaDB": "openstack/mariadb-",
    "memcached": "openstack/memcached-",
    "mariadb-operator": "mariadb-system/",
    "External Secrets": "external-secrets/",
    "K-ORC": "orc-system/",
    "memcached-operator": "memcached-system/",
    "API server": "kube-system/kube-apiserver-",
    "etcd": "kube-system/etcd-",
    "controller manager": "kube-system/kube-controller-manager-",
    "scheduler": "kube-system/kube-scheduler-",
    "CoreDNS": "kube-system/coredns-",
}
SCENARIOS = [IDLE, *PODS, REST]
MCPU = "mCPU"
INSIDE = "In the pod, mCPU"
OUTSIDE = "Outside of the pod, mCPU"
DAY = "CPU seconds a day"
COLUMNS = {MCPU: 2, INSIDE: 2, OUTSIDE: 2, DAY: 0}
# By default the trusts are flushed every hour and keys are rotated every week. A Job in
# the measured time would cost more than the pods, so no CronJob of this Keystone runs.
NO_CRONJOBS = {name: {"suspend": True} for name in ("fernet", "credentialKeys", "trustFlush")}
# Without limits, and with requests so small that all pods fit on one node.
RESOURCES = {"requests": {"cpu": "10m", "memory": "64Mi"}}
# A Job of a CronJob has ended this many seconds after it was due.
JOB_SECONDS = 60
ATTEMPTS = 3


def measure(options):
    keystones = options.idle_keystones
    with Databases(keystones):
        without = window(options)
        apply(*(one(number, options.idle_pods) for number in range(keystones)))
        namespaced("wait", "keystones", "--all", READY, TIMEOUT)
        present = window(options)
    yield from rows(without, present, keystones, keystones * options.idle_pods)


class Databases(Database):
    """As many databases as there are Keystones, all of one user."""

    def __init__(self, count):
        self.names = [f"{NAMESPACE}_{number}" for number in range(count)]

    def __enter__(self):
        super().__enter__()
        sql("".join(f"CREATE DATABASE {name} CHARACTER SET utf8; GRANT ALL ON {name}.* TO {NAMESPACE}; " for name in self.names))
        return self

    def remove(self):
        super().remove()
        sql("".join(f"DROP DATABASE IF EXISTS {name}; " for name in self.names))


def one(number, pods):
    found = keystone(replicas=pods, resources=RESOURCES, **NO_CRONJOBS)
    found["metadata"]["name"] += f"-{number}"
    found["spec"]["database"]["database"] = f"{NAMESPACE}_{number}"
    return found


def window(options):
    """Returns the rates over a time without CronJobs, which other Keystones in the cluster have too."""
    time.sleep(options.settle_seconds)
    for _ in range(ATTEMPTS):
        before = summary()
        time.sleep(options.idle_seconds)
        after = summary()
        cronjobs = get("cronjobs", "--all-namespaces")["items"]
        if not any(ran(cronjob, before["node"]["cpu"]["time"]) for cronjob in cronjobs):
            return rates(before, after)
    sys.exit(f"a CronJob ran during each of {ATTEMPTS} measurements of {options.idle_seconds} seconds: suspend it or measure for less time")


def ran(cronjob, since):
    due = cronjob.get("status", {}).get("lastScheduleTime")
    return bool(due) and seconds(due, since) > -JOB_SECONDS


def summary():
    """Returns what the kubelet of the only node says about the node and its pods."""
    node = get("nodes")["items"][0]["metadata"]["name"]
    return json.loads(kubectl("get", "--raw", f"/api/v1/nodes/{node}/proxy/stats/summary"))


def rates(before, after):
    """Returns the mCPU of the node, and of each pod that both summaries have."""
    earlier, later = cpu(before), cpu(after)
    # The kubelet may list a pod that has ended with an old figure.
    both = [pod for pod in later if pod in earlier and later[pod]["time"] != earlier[pod]["time"]]
    pods = {f"{namespace}/{name}": rate(earlier[namespace, name, uid], later[namespace, name, uid]) for namespace, name, uid in both}
    return rate(before["node"]["cpu"], after["node"]["cpu"]), pods


def cpu(found):
    """Returns the CPU time of each pod that has one."""
    pods = {(pod["podRef"]["namespace"], pod["podRef"]["name"], pod["podRef"]["uid"]): pod.get("cpu", {}) for pod in found["pods"]}
    return {pod: figure for pod, figure in pods.items() if "usageCoreNanoSeconds" in figure}


def rate(before, after):
    """Returns the thousandths of a core between two figures. Each has the time at which the kubelet took it."""
    used = after["usageCoreNanoSeconds"] - before["usageCoreNanoSeconds"]
    return used / seconds(after["time"], before["time"]) / 1e6


def rows(without, present, keystones, pods):
    """Returns the rows from the rates without the Keystones and with them."""
    for size, (node, rates_of) in {0: without, keystones: present}.items():
        for row, prefix in PODS.items():
            found = starting(rates_of, prefix)
            if found:
                yield row, size, figures(sum(found))
        yield REST, size, figures(node - sum(rates_of.values()))
    each = (present[0] - without[0]) / pods
    inside = sum(starting(present[1], f"{NAMESPACE}/")) / pods
    yield IDLE, keystones, {**figures(each), INSIDE: inside, OUTSIDE: each - inside}


def starting(pods, prefix):
    return [mcpu for name, mcpu in pods.items() if name.startswith(prefix)]


def figures(mcpu):
    return {MCPU: mcpu, DAY: mcpu * 86.4}
