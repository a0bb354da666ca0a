#!/usr/bin/env python3
"""Records a run of end-to-end suites, and reports which values of Secrets leaked.

Usage: record.py FOLDER
Follows the Secrets, the logs of all containers, and the events, ConfigMaps, Pods
and custom resources of the current kubectl cluster until its standard input ends.
Then it searches the recording for every value that a Secret had at any time. If
there is one, it prints the places, without the value, and fails.
FOLDER receives the recording, which contains values of Secrets only if they leaked.
"""

import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

import leaks

# The files of definitions are named GROUP_RESOURCE.yaml.
DEFINITIONS = sorted(pathlib.Path(__file__).resolve().parents[2].glob("operators/*/config/crd/bases/*.yaml"))
WATCHED = ("/api/v1/secrets", "/api/v1/configmaps", "/api/v1/events", "/api/v1/pods") + tuple(
    f"/apis/{group}/v1alpha1/{resource}" for group, _, resource in (file.stem.rpartition("_") for file in DEFINITIONS))

# The delay before a stream that has ended is requested again, in seconds.
AGAIN = 2

# The names in labels of the pods with which suites act as clients.
CLIENTS = ("e2e-client", "e2e-cloud")


class Connection(http.client.HTTPConnection):
    """HTTP over a socket that only the current user can open."""

    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Recording:
    """The recording of a run."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.lock = threading.Lock()
        self.values, self.names = leaks.Values(), leaks.Names()
        self.objects = (self.folder / "objects").open("w", encoding="utf-8")
        self.identities = []
        self.logs = {}

    def add(self, kind, obj):
        """Records an object of a kind, such as "configmaps"."""
        with self.lock:
            if self.objects.closed:
                return
            self.names.add(obj)
            if kind == "secrets":
                self.values.add(obj)
                # Secrets are allowed to contain their own values.
                obj = {"metadata": {**obj["metadata"], "annotations": self.published(obj)}}
            obj["metadata"].pop("managedFields", None)
            meta = obj["metadata"]
            self.identities.append(f"{kind} {meta.get('namespace', '')}/{meta['name']}")
            # Characters that other programs treat as the end of a line must not be
            # one here.
            self.objects.write(json.dumps(obj, ensure_ascii=False).replace("\u2028", " ").replace("\u2029", " ") + "\n")

    @staticmethod
    def published(secret):
        """Returns the annotations of a Secret without the copy that "kubectl apply" stores
        there, which is readable to exactly those who may read the Secret.
        """
        annotations = secret["metadata"].get("annotations") or {}
        return {k: v for k, v in annotations.items() if k != "kubectl.kubernetes.io/last-applied-configuration"}

    def log(self, pod, container):
        """Opens the file for the log of a container."""
        meta = pod["metadata"]
        what = "an end-to-end client" if (meta.get("labels") or {}).get("app.kubernetes.io/name") in CLIENTS else "a container"
        with self.lock:
            path = self.folder / f"log-{len(self.logs)}"
            self.logs[str(path)] = f"log of {what}, {meta['namespace']}/{meta['name']} {container}"
        return path.open("wb")

    def report(self):
        """Returns the lines of the report, and whether the run passed."""
        with self.lock:
            self.objects.close()
            places = {str(self.folder / "objects"): lambda number: self.identities[number - 1]}
            for path, place in self.logs.items():
                places[path] = lambda number, place=place: f"{place}, line {number}"
            found = leaks.problems(self.values, self.names, places)
            seen = (f"{len(self.values.owners)} values of {len(self.values.secrets)} Secrets, {len(self.logs)} logs, "
                    f"{len(self.identities)} versions of objects")
        if not self.values.owners or not self.logs:
            return found + [f"there is nothing to search for leaked Secrets: {seen}"], False
        return found + [f"{len(found)} leaks of Secrets: {seen}"], not found


class Recorder:
    """Follows a cluster."""

    def __init__(self, connect, recording):
        self.connect, self.recording = connect, recording
        self.ended = threading.Event()
        self.followed = set()

    def start(self):
        for path in WATCHED:
            threading.Thread(target=self.watch, args=(path,), daemon=True).start()

    def stream(self, path):
        """Yields the lines of a response; nothing if it is not found."""
        connection = self.connect()
        try:
            connection.request("GET", path)
            with connection.getresponse() as response:
                if response.status == 200:
                    yield from response
        finally:
            connection.close()

    def watch(self, path):
        kind = path.rpartition("/")[2]
        while not self.ended.is_set():
            try:
                for line in self.stream(path + "?watch=true"):
                    event = json.loads(line)
                    if event["type"] in ("ADDED", "MODIFIED", "DELETED"):
                        self.take(kind, event["object"])
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                pass
            self.ended.wait(AGAIN)

    def take(self, kind, obj):
        if kind == "pods":
            for status in containers(obj):
                run = (obj["metadata"]["uid"], status["name"], status["restartCount"])
                if run not in self.followed:
                    self.followed.add(run)
                    threading.Thread(target=self.follow, args=(obj, status["name"]), daemon=True).start()
        self.recording.add(kind, obj)

    def follow(self, pod, container):
        meta = pod["metadata"]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log?container={container}&follow=true"
        with self.recording.log(pod, container) as file:
            try:
                for line in self.stream(path):
                    file.write(line)
                    file.flush()
            except (OSError, http.client.HTTPException):
                pass


def containers(pod):
    """Returns the statuses of the containers of a pod that have a log."""
    status = pod.get("status", {})
    every = status.get("initContainerStatuses", []) + status.get("containerStatuses", [])
    return [c for c in every if {"running", "terminated"} & set(c.get("state", {}))]


def main(folder):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as private:
        path = os.path.join(private, "api")
        proxy = subprocess.Popen(("kubectl", "proxy", "--unix-socket=" + path), stdout=subprocess.DEVNULL)
        try:
            while not os.path.exists(path) and proxy.poll() is None:
                time.sleep(0.1)
            recorder = Recorder(lambda: Connection(path), Recording(folder))
            recorder.start()
            sys.stdin.read()
            recorder.ended.set()
            lines, fine = recorder.recording.report()
        finally:
            proxy.terminate()
            proxy.wait()
    print("\n".join(lines))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
