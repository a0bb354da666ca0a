"""The time from the creation of a Keystone to Ready, and how it is spent."""

import time
from datetime import datetime

from keystone import KEYSTONE, Database, keystone, pods
from kube import apply, get, wait

NAME = "cluster-ready"
REPLICAS = (1, 3)
JOBS = {"Schema": "keystone-db-sync", "Bootstrap": "keystone-bootstrap"}
FIRST_POD = "First pod"
READY = "Ready"
COLUMNS = {**{column: 0 for column in JOBS}, FIRST_POD: 0, READY: 1}
SCENARIOS = ["keystone"]


def seconds(until, since):
    parsed = [datetime.fromisoformat(t.replace("Z", "+00:00")) for t in (until, since)]
    return (parsed[0] - parsed[1]).total_seconds()


def measure(_options):
    for replicas in REPLICAS:
        with Database():
            started = time.monotonic()
            apply(keystone(replicas=replicas))
            wait(KEYSTONE)
            figures = {READY: time.monotonic() - started}
            yield "keystone", replicas, {**figures, **parts(get(KEYSTONE)["metadata"]["creationTimestamp"])}


def parts(created):
    """Returns the whole seconds to the ends of the Jobs' containers and to the first pod."""
    figures = {}
    for column, job in JOBS.items():
        for pod in get("pods", f"--selector=batch.kubernetes.io/job-name={job}")["items"]:
            ended = pod["status"]["containerStatuses"][0]["state"].get("terminated")
            if ended:
                figures[column] = seconds(ended["finishedAt"], created)
    available = [
        seconds(condition["lastTransitionTime"], created)
        for pod in pods()
        for condition in pod["status"]["conditions"]
        if condition["type"] == "Ready" and condition["status"] == "True"
    ]
    return {**figures, **({FIRST_POD: min(available)} if available else {})}
