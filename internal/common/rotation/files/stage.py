"""Leaves what a rotation made in its staging Secret.

The operator checks it there and takes it over; the account of this container
may write nothing but the staging Secret. Only the standard library is used.
"""

import base64
import datetime
import json
import os
import pathlib
import ssl
import sys
import time
import urllib.error
import urllib.request

API = "https://kubernetes.default.svc"
ACCOUNT = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")
COMPLETED_AT = "forge.c5c3.io/rotation-completed-at"
ATTEMPTS = 6
TIMEOUT_SECONDS = 10


def patch(data, now, staged):
    """The body of the request: the data replaces what an earlier run staged.

    Nothing is changed when the Secret is no longer the one that was read.
    """
    completed = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    removed = dict.fromkeys(staged.get("data") or {})
    encoded = {name: base64.b64encode(value).decode() for name, value in data.items()}
    metadata = {
        "uid": staged["metadata"]["uid"],
        "resourceVersion": staged["metadata"]["resourceVersion"],
        "annotations": {COMPLETED_AT: completed},
    }
    return json.dumps({"metadata": metadata, "data": {**removed, **encoded}}).encode()


def call(url, account, method="GET", body=None):
    """One request. The token is read anew, because the kubelet replaces it."""
    request = urllib.request.Request(url, data=body, method=method)
    request.add_header("Authorization", "Bearer " + (account / "token").read_text())
    request.add_header("Content-Type", "application/strategic-merge-patch+json")
    tls = ssl.create_default_context(cafile=str(account / "ca.crt"))
    # Python 3.13 checks the form of certificates strictly by default, and those of older clusters
    # do not identify the key of their authority.
    tls.verify_flags &= ~ssl.VERIFY_X509_STRICT
    # No proxy of the environment, which the settings of pods may have, leads to the API server.
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=tls))
    with direct.open(request, timeout=TIMEOUT_SECONDS) as answer:
        return json.load(answer)


def stage(data, api=API, account=ACCOUNT, pause=1.0):
    """Writes the data, names to bytes, into the staging Secret, or ends the program."""
    namespace, secret = os.environ["SECRET_NAMESPACE"], os.environ["SECRET_NAME"]
    url = "%s/api/v1/namespaces/%s/secrets/%s" % (api, namespace, secret)
    now = datetime.datetime.now(datetime.timezone.utc)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            call(url, account, "PATCH", patch(data, now, call(url, account)))
            print("staged %d values in Secret %s" % (len(data), secret))
            return
        except urllib.error.HTTPError as error:
            # Never the answer itself: it may quote the request.
            problem = "the API server answered %d %s" % (error.code, error.reason)
        except OSError as error:
            problem = "the API server cannot be reached: %s" % error
        if attempt < ATTEMPTS:
            time.sleep(pause * 2 ** (attempt - 1))
    sys.exit("could not stage in Secret %s/%s: %s" % (namespace, secret, problem))


def keys(directory):
    """The files of a key repository; Keystone ignores names that are no numbers."""
    return {path.name: path.read_bytes() for path in pathlib.Path(directory).iterdir() if path.name.isdecimal()}


if __name__ == "__main__":
    stage(keys(sys.argv[1]))
