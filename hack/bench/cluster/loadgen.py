"""The load of workshop/loadgen, in a pod of the cluster."""

import json

from kube import NAMESPACE, apply, get, metadata, namespaced, until, wait

POD = "load"


def start(*flags):
    """Starts a load and returns when each kind of request has succeeded."""
    apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": metadata(POD),
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "load",
                        "image": "ghcr.io/c5c3/loadgen:dev",
                        "args": [
                            f"-url=http://keystone.{NAMESPACE}.svc:5000/v3",
                            "-listen=:8080",
                            "-result=/dev/termination-log",
                            *flags,
                        ],
                        "readinessProbe": {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1},
                        "volumeMounts": [{"name": "password", "mountPath": "/etc/loadgen"}],
                    }
                ],
                "volumes": [{"name": "password", "secret": {"secretName": "keystone-admin"}}],
            },
        }
    )
    wait(f"pod/{POD}")


def stop(requests=0):
    """Stops the load after a number of requests and returns its figures."""
    namespaced("exec", POD, "--", "/loadgen", "stop", f"-requests={requests}")
    until("the load to end", lambda: "terminated" in state())
    result = json.loads(state()["terminated"]["message"])
    namespaced("delete", "pod", POD)
    return result


def state():
    return get("pod", POD)["status"]["containerStatuses"][0]["state"]
