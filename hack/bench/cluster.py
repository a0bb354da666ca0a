#!/usr/bin/env python3
"""Measures the delays that users experience on a real cluster.

    cluster.py [--runs N] [--seconds S] [--json FILE] [ready] [controlplane] [api]

ready         the time from the creation of a Keystone to Ready, and how it is spent
controlplane  the same for a ControlPlane
api           the throughput and the response times of one API pod

It uses the cluster of "make quickstart", for a ControlPlane with the additions of
"make deploy-infra". Each run has a separate namespace and database and removes
both. Other load on the cluster affects the results, so there should be none.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from datetime import datetime

NAMESPACE = "bench"
IMAGE = "ghcr.io/c5c3/loadgen:dev"
READY = "--for=condition=Ready"


def kubectl(*arguments, stdin=None):
    done = subprocess.run(("kubectl", *arguments), input=stdin, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def get(*arguments):
    return json.loads(kubectl("get", "--namespace", NAMESPACE, "--output=json", *arguments))


def apply(*objects):
    kubectl("apply", "--filename=-", stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))


def sql(statement):
    """Runs a statement on the quick start's MariaDB. The password does not leave the pod."""
    command = 'MYSQL_PWD=$MARIADB_ROOT_PASSWORD exec mariadb -uroot -e "$0"'
    kubectl("exec", "--namespace=openstack", "mariadb-0", "--", "sh", "-c", command, statement)


def secret(name, **data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE}, "stringData": data}


def keystone(replicas=3, **spec):
    return {
        "apiVersion": "keystone.openstack.c5c3.io/v1alpha1",
        "kind": "Keystone",
        "metadata": {"name": "keystone", "namespace": NAMESPACE},
        "spec": {
            "image": {"repository": "ghcr.io/c5c3/keystone", "tag": "2025.2"},
            "replicas": replicas,
            "database": {
                "host": "mariadb.openstack.svc",
                "database": NAMESPACE,
                "secretRef": {"name": "keystone-db"},
            },
            "cache": {"servers": ["memcached.openstack.svc:11211"]},
            "bootstrap": {"adminPasswordSecretRef": {"name": "keystone-admin"}},
            **spec,
        },
    }


def set_up():
    kubectl("create", "namespace", NAMESPACE)
    sql(
        f"CREATE DATABASE {NAMESPACE} CHARACTER SET utf8; "
        f"CREATE USER {NAMESPACE} IDENTIFIED BY '{NAMESPACE}'; GRANT ALL ON {NAMESPACE}.* TO {NAMESPACE}"
    )
    apply(secret("keystone-db", username=NAMESPACE, password=NAMESPACE), secret("keystone-admin", password=NAMESPACE))


def tear_down():
    kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found", "--timeout=5m")
    sql(f"DROP DATABASE IF EXISTS {NAMESPACE}; DROP USER IF EXISTS {NAMESPACE}")


def seconds(until, since):
    parsed = [datetime.fromisoformat(t.replace("Z", "+00:00")) for t in (until, since)]
    return (parsed[0] - parsed[1]).total_seconds()


def wait(kind, condition=READY):
    kubectl("wait", "--namespace", NAMESPACE, f"{kind}", condition, "--timeout=10m")


def measure_ready():
    """Returns, for one run, the seconds to Ready and, in whole seconds, to the ends of the Jobs and the first pod."""
    set_up()
    started = time.monotonic()
    apply(keystone())
    wait("keystone/keystone")
    figures = {"Ready": time.monotonic() - started}
    created = get("keystone", "keystone")["metadata"]["creationTimestamp"]
    for job in get("jobs")["items"]:
        name = job["metadata"]["name"].removeprefix("keystone-")
        if "completionTime" in job["status"]:
            figures[name] = seconds(job["status"]["completionTime"], created)
    pods = get("pods", "--selector=app.kubernetes.io/component=api")["items"]
    ready = [
        seconds(condition["lastTransitionTime"], created)
        for pod in pods
        for condition in pod["status"]["conditions"]
        if condition["type"] == "Ready" and condition["status"] == "True"
    ]
    if ready:
        figures["first pod"] = min(ready)
    tear_down()
    return figures


def measure_controlplane():
    kubectl("create", "namespace", NAMESPACE)
    for path, data in {
        f"openstack/keystone/{NAMESPACE}/controlplane/db": {"username": "keystone", "password": NAMESPACE},
        f"bootstrap/{NAMESPACE}/controlplane-keystone/admin": {"password": NAMESPACE},
    }.items():
        put = ("exec", "--stdin", "--namespace=openbao-system", "openbao-0", "--", "bao", "kv", "put", f"kv-v2/{path}", "-")
        kubectl(*put, stdin=json.dumps(data))
    started = time.monotonic()
    apply(
        {
            "apiVersion": "c5c3.io/v1alpha1",
            "kind": "ControlPlane",
            "metadata": {"name": "controlplane", "namespace": NAMESPACE},
            "spec": {
                "openStackRelease": "2025.2",
                "infrastructure": {"database": {"replicas": 1, "storageSize": "512Mi"}, "cache": {"replicas": 1}},
                "services": {"keystone": {"replicas": 1}},
            },
        }
    )
    figures = {}
    for kind in ("mariadb", "keystone", "controlplane"):
        while not get(kind)["items"]:
            time.sleep(0.2)
        wait(f"{kind}/{get(kind)['items'][0]['metadata']['name']}")
        figures[{"controlplane": "Ready"}.get(kind, kind)] = time.monotonic() - started
    kubectl("delete", "controlplane", "controlplane", "--namespace", NAMESPACE, "--timeout=5m")
    kubectl("delete", "namespace", NAMESPACE, "--timeout=5m")
    return figures


def load(only, workers, duration):
    """Sends requests of one kind for a while; each worker sends the next when the last one was answered."""
    name = f"load-{only}-{workers}"
    apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "load",
                        "image": IMAGE,
                        "args": [
                            f"-url=http://keystone.{NAMESPACE}.svc:5000/v3",
                            "-rate=0",
                            f"-only={only}",
                            f"-workers={workers}",
                            "-result=/dev/termination-log",
                        ],
                        "volumeMounts": [{"name": "password", "mountPath": "/etc/loadgen"}],
                    }
                ],
                "volumes": [{"name": "password", "secret": {"secretName": "keystone-admin"}}],
            },
        }
    )
    wait(f"pod/{name}")
    time.sleep(duration)
    kubectl("exec", "--namespace", NAMESPACE, name, "--", "/loadgen", "stop")
    kubectl("wait", "--namespace", NAMESPACE, f"pod/{name}", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=2m")
    state = get("pod", name)["status"]["containerStatuses"][0]["state"]["terminated"]
    kubectl("delete", "pod", name, "--namespace", NAMESPACE)
    return json.loads(state["message"])


def measure_api(duration, uwsgi):
    set_up()
    apply(keystone(replicas=1, **({"uwsgi": uwsgi} if uwsgi else {})))
    wait("keystone/keystone")
    figures = {}
    for only in ("issue", "validate"):
        result = load(only, 8, duration)
        figures[f"{only} per second"] = result["perSecond"]
        figures[f"{only} p99 ms"] = result["kinds"][only]["p99Ms"]
    tear_down()
    return figures


def report(title, runs):
    print(f"\n{title}, {len(runs)} runs{'':20}min   median      max")
    for key in runs[0]:
        values = [run[key] for run in runs if key in run]
        print(f"  {key:32}{min(values):9.1f}{statistics.median(values):9.1f}{max(values):9.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20, help="how long each load lasts")
    parser.add_argument("--uwsgi", type=json.loads, help="spec.uwsgi of the Keystone, as JSON, for api")
    parser.add_argument("--json", help="file that receives the figures of every run")
    parser.add_argument("parts", nargs="*", default=[], help="ready, controlplane or api; ready and api by default")
    options = parser.parse_args()
    measures = {
        "ready": measure_ready,
        "controlplane": measure_controlplane,
        "api": lambda: measure_api(options.seconds, options.uwsgi),
    }
    parts = options.parts or ["ready", "api"]
    unknown = [part for part in parts if part not in measures]
    if unknown or options.runs < 1:
        parser.error(f"unknown figures: {', '.join(unknown)}" if unknown else "--runs must be at least 1")
    results = {part: [measures[part]() for _ in range(options.runs)] for part in parts}
    for part, runs in results.items():
        report(part, runs)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
