"""Lists projects once a second with the current clouds.yaml in a Secret, and counts
failures. It also reports how many seconds it ran, how many passed from the first call that
failed to the last, and the duration of the longest call, so that hanging calls are noticed.

Like a command line client, it logs in for each call. It repeats no request except
one: like every OpenStack client, it logs in again if a token that it has just
received is rejected. The file /tmp/stop contains a number of calls and a number of
credentials: once it exists and both were reached, the consumer writes its counts as
JSON to /dev/termination-log and exits. When /tmp/forgive appears, it deletes the
file and counts the failures so far separately from later ones.

Environment: NAMESPACE, SECRET.
"""

import base64
import collections
import json
import os
import socketserver
import ssl
import threading
import time
import urllib.error
import urllib.request

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
STOP, FORGIVE, RESULT = "/tmp/stop", "/tmp/forgive", "/dev/termination-log"
# The port that the readiness probe connects to. It is open once a call has succeeded.
READY_PORT = 8080
PERIOD = 1.0
TIMEOUT = 30.0
# A changed password revokes all tokens that its user got up to the same second,
# since Keystone stores these times in whole seconds.
REVOKED_PERIOD = 1.0


def exchange(request, **options):
    with urllib.request.urlopen(request, timeout=TIMEOUT, **options) as answer:
        return answer.headers, json.load(answer)


def read_clouds():
    # The image contains the module, but the machine that runs the tests may not.
    import yaml

    with open(f"{ACCOUNT}/token", encoding="utf-8") as file:
        token = file.read()
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    url = f"https://{host}:{port}/api/v1/namespaces/{os.environ['NAMESPACE']}/secrets/{os.environ['SECRET']}"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    _, secret = exchange(request, context=ssl.create_default_context(cafile=f"{ACCOUNT}/ca.crt"))
    return yaml.safe_load(base64.b64decode(secret["data"]["clouds.yaml"]))


def log_in(auth):
    credential = {"id": auth["application_credential_id"], "secret": auth["application_credential_secret"]}
    body = {"auth": {"identity": {"methods": ["application_credential"], "application_credential": credential}}}
    headers, _ = exchange(urllib.request.Request(
        f"{auth['auth_url']}/auth/tokens", json.dumps(body).encode(), {"Content-Type": "application/json"}))
    return headers["X-Subject-Token"]


def list_projects(auth, token):
    _, answer = exchange(urllib.request.Request(f"{auth['auth_url']}/projects", headers={"X-Auth-Token": token}))
    if not any(project["name"] == "admin" for project in answer["projects"]):
        raise ValueError("the list of projects lacks admin")


def call(auth):
    """Makes one call, and reports whether its first token had been revoked."""
    try:
        list_projects(auth, log_in(auth))
        return False
    except urllib.error.HTTPError as error:
        if kind_of(error) != "HTTP 401 from projects":
            raise
    time.sleep(REVOKED_PERIOD)
    list_projects(auth, log_in(auth))
    return True


def kind_of(error):
    """The kind of a failure, without anything secret."""
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP {error.code} from {error.url.split('?')[0].rsplit('/', 1)[-1]}"
    return type(error).__name__


def ends(calls, credentials):
    """Reports whether to stop after that many calls with that many credentials."""
    try:
        with open(STOP, encoding="utf-8") as file:
            wanted_calls, wanted_credentials = map(int, file.read().split())
            return calls >= wanted_calls and credentials >= wanted_credentials
    except FileNotFoundError:
        return False


def open_port():
    server = socketserver.ThreadingTCPServer(("", READY_PORT), socketserver.BaseRequestHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def main():
    ready = False
    calls, revoked, forgiven, slowest, kinds, credentials = 0, 0, 0, 0.0, collections.Counter(), []
    failed = []
    started = time.monotonic()
    while not ends(calls, len(credentials)):
        if os.path.exists(FORGIVE):
            forgiven += sum(kinds.values())
            kinds.clear()
            os.remove(FORGIVE)
        began = time.monotonic()
        calls += 1
        try:
            auth = read_clouds()["clouds"]["admin"]["auth"]
            revoked += call(auth)
            if auth["application_credential_id"] not in credentials:
                credentials.append(auth["application_credential_id"])
            if not ready:
                open_port()
                ready = True
        except Exception as error:  # Whatever the error is, the consumer was not served.
            kinds[kind_of(error)] += 1
            failed.append(began)
            print(time.strftime("%H:%M:%S"), kind_of(error), flush=True)
        took = time.monotonic() - began
        slowest = max(slowest, took)
        time.sleep(max(0.0, PERIOD - took))
    with open(RESULT, "w", encoding="utf-8") as file:
        json.dump({
            "calls": calls, "failures": sum(kinds.values()), "kinds": kinds, "forgiven": forgiven, "revokedTokens": revoked,
            "credentials": len(credentials),
            "seconds": round(time.monotonic() - started, 1), "slowest": round(slowest, 1),
            "failingSeconds": round(failed[-1] - failed[0], 1) if failed else 0.0,
        }, file)


if __name__ == "__main__":
    main()
