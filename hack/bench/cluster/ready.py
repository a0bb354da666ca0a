"""The time from the creation of a Keystone to Ready, and how it is spent."""

import time
from datetime import datetime

from keystone import KEYSTONE, Database, keystone, pods
from kube import apply, get, wait

NAME = "cluster-ready"
REPLICAS = 3
JOBS = {"Schema": "keystone-db-sync", "Bootstrap": "keystone-bootstrap"}
FIRST_POD = "First pod"
READY = "Ready"
COLUMNS = {**{column: 0 for column in JOBS}, FIRST_POD: 0, READY: 1}
SCENARIOS = ["keystone"]


def seconds(until, since):
    parsed = [datetime.fromisoformat(t.replace("Z", "+00:00")) for t in (until, since)]
    return (parsed[0] - parsed[1]).total_seconds()


def measure(_options):
    with Database():
        started = time.monotonic()
        apply(keystone(replicas=REPLICAS))
        wait(KEYSTONE)
        figures = {READY: time.monotonic() - started}
        yield "keystone", REPLICAS, {**figures, **parts(get(KEYSTONE)["metadata"]["creationTimestamp"])}


def parts(created):
    """Returns the whole seconds to the ends of the Jobs and to the first pod."""
    ended = {job["metadata"]["name"]: job["status"].get("completionTime") for job in get("jobs")["items"]}
    figures = {column: seconds(ended[name], created) for column, name in JOBS.items() if ended.get(name)}
    available = [
        seconds(condition["lastTransitionTime"], created)
        for pod in pods()
        for condition in pod["status"]["conditions"]
        if condition["type"] == "Ready" and condition["status"] == "True"
    ]
    return {**figures, **({FIRST_POD: min(available)} if available else {})}
