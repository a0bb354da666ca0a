"""What the measurements ask of the cluster, through kubectl."""

import json
import subprocess
import sys
import time

NAMESPACE = "bench"
READY = "--for=condition=Ready"
TIMEOUT = "--timeout=10m"


def kubectl(*arguments, stdin=None):
    done = subprocess.run(("kubectl", *arguments), input=stdin, text=True, capture_output=True)
    if done.returncode:
        sys.exit(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def namespaced(verb, *arguments, stdin=None):
    return kubectl(verb, "--namespace", NAMESPACE, *arguments, stdin=stdin)


def get(*arguments):
    return json.loads(namespaced("get", "--output=json", *arguments))


def apply(*objects):
    kubectl("apply", "--filename=-", stdin="\n---\n".join(json.dumps(each) for each in objects))


def patch(resource, spec):
    namespaced("patch", resource, "--type=merge", f"--patch={json.dumps({'spec': spec})}")


def replace(resource, spec):
    """Sets fields of the spec as a whole; None stands for the default."""
    operations = [{"op": "add", "path": f"/spec/{name}", "value": value} for name, value in spec.items()]
    namespaced("patch", resource, "--type=json", f"--patch={json.dumps(operations)}")


def wait(resource, condition=READY):
    namespaced("wait", resource, condition, TIMEOUT)


def until(what, holds, seconds=600):
    """Waits until a function returns true."""
    ends = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > ends:
            sys.exit(f"after {seconds} seconds: still waiting for {what}")
        time.sleep(0.2)


def metadata(name):
    return {"name": name, "namespace": NAMESPACE}


def secret(name, **data):
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata(name), "stringData": data}


class Namespace:
    """The namespace of one run. It is removed also when the run fails."""

    def __enter__(self):
        self.remove()
        kubectl("create", "namespace", NAMESPACE)
        return self

    def __exit__(self, *_):
        self.remove()

    def remove(self):
        kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found", TIMEOUT)
