"""The throughput and the response times of one API pod, with the defaults and with other settings."""

import time

import loadgen
from keystone import KEYSTONE, Database, change, fernet_keys, keystone, rolled_out, usage
from kube import apply, wait

NAME = "cluster-api"
PODS = 1
WORKERS = 8
# What a setting does not name is reset to this. Keystone's default has a limit of half a
# core, and nothing else matters below it.
UNLIMITED = {"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "2Gi"}}
BASIS = {"uwsgi": {"processes": 2, "threads": 1, "httpKeepAlive": True}, "resources": UNLIMITED, "extraConfig": None}
SETTINGS = {
    "defaults": {"resources": None},
    "no CPU limit": {},
    "1 process": {"uwsgi": {"processes": 1}},
    "4 processes": {"uwsgi": {"processes": 4}},
    "2 threads": {"uwsgi": {"threads": 2}},
    "4 threads": {"uwsgi": {"threads": 4}},
    "no keep-alive": {"uwsgi": {"httpKeepAlive": False}},
    "no token cache": {"extraConfig": {"token": {"caching": "false"}}},
    # With a single connection and no overflow a request may wait 30 s for a second one.
    "database pool of 2": {"extraConfig": {"database": {"max_pool_size": "2", "max_overflow": "0"}}},
    # A new Keystone has two. A token that is in the cache is not decrypted.
    "10 Fernet keys, no token cache": {"fernet": {"maxActiveKeys": 10}, "extraConfig": {"token": {"caching": "false"}}},
    "50 Fernet keys, no token cache": {"fernet": {"maxActiveKeys": 50}, "extraConfig": {"token": {"caching": "false"}}},
}
SCENARIOS = list(SETTINGS)
KINDS = {"issue": "Issued", "validate": "Validated"}
MEMORY = "Memory, MiB"
COLUMNS = {
    **{f"{kind}{figure}": digits for kind in KINDS.values() for figure, digits in ((" per second", 1), (", p99 ms", 0), (", CPU ms each", 1))},
    MEMORY: 0,
}


def measure(options):
    asked = {name: merged(setting) for name, setting in SETTINGS.items() if not options.settings or name in options.settings}
    # Rotations would add the keys one at a time, so a Keystone gets them when it is created.
    with_keys = {name: asked.pop(name) for name in list(asked) if "fernet" in asked[name]}
    if asked:
        with Database():
            apply(keystone(replicas=PODS))
            wait(KEYSTONE)
            for name, spec in asked.items():
                change(**spec)
                yield name, PODS, figures(options.seconds)
    for name, spec in with_keys.items():
        with Database():
            apply(fernet_keys(spec["fernet"]["maxActiveKeys"]), keystone(replicas=PODS, **spec))
            wait(KEYSTONE)
            yield name, PODS, figures(options.seconds)


def merged(setting):
    """Returns the spec of a setting."""
    return {**BASIS, **setting, "uwsgi": {**BASIS["uwsgi"], **setting.get("uwsgi", {})}}


def figures(seconds):
    found = {}
    for kind, title in KINDS.items():
        # The load before may have cost the only pod its readiness.
        rolled_out()
        loadgen.start(f"-only={kind}", "-rate=0", f"-workers={WORKERS}")
        cpu, _ = usage()
        time.sleep(seconds)
        later, memory = usage()
        result = loadgen.stop()
        found |= {
            f"{title} per second": result["perSecond"],
            f"{title}, p99 ms": result["kinds"][kind]["p99Ms"],
            f"{title}, CPU ms each": (later - cpu) * 1000 / (result["perSecond"] * seconds),
            MEMORY: memory,
        }
    return found
