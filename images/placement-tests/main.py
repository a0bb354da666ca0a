#!/usr/bin/python3
"""Runs Placement's own API tests against the Service of a Placement that has no data.

    main.py          run them
    main.py --list   list their files

The tests are files for gabbi, written for a Placement in the same process. Here they speak to a
proxy that gives their requests real tokens; what their fixtures put into the database is
created through the API, and deleted before the next file.

The environment: OS_AUTH_URL, OS_USERNAME, OS_PASSWORD and the like, of an administrator of the
system, PLACEMENT_URL and PLACEMENT_RELEASE. FILES may name some of the files. Output: a line for
each file with its result, why it has failed or been excluded, and a summary, which as JSON also is
the termination message.
"""

import glob
import json
import logging
import os
import sys
import tempfile
import time
import types
import unittest
import uuid
import warnings

import yaml
from gabbi import driver

from api import API
from identity import Identity
from objects import MICROVERSION, Objects, Thing
from proxy import Proxy

HERE = os.path.dirname(os.path.abspath(__file__))
TERMINATION_LOG = "/dev/termination-log"
# Variables of the fixtures whose values are IDs of any kind.
IDENTIFIERS = (
    "RP_UUID RP_NAME RP_UUID1 RP_NAME1 RP_UUID2 RP_NAME2 USER_ID USER_ID_ALT INSTANCE_UUID MIGRATION_UUID CONSUMER_UUID "
    "PARENT_PROVIDER_UUID ALT_PARENT_PROVIDER_UUID"
).split()
# Those of projects, of which there has to be a real one.
PROJECTS = ("PROJECT_ID", "PROJECT_ID_ALT", "ADMIN_PROJECT_ID", "SERVICE_PROJECT_ID")
CLASSES = {"CUSTOM_RES_CLASS": "CUSTOM_IRON_NFV", "CUSTOM_RES_CLASS1": "CUSTOM_IRON_NFV1", "CUSTOM_RES_CLASS2": "CUSTOM_IRON_NFV2"}


def fixtures_through(objects, identity):
    """Returns the module of Placement's fixtures, which now create their objects through the API."""
    from placement.tests.functional.fixtures import gabbits

    def start(fixture):
        fixture.context = None
        objects.empty()
        os.environ.update(CLASSES)
        os.environ.update({name: str(uuid.uuid4()) for name in IDENTIFIERS})
        os.environ.update({name: identity.project(name + uuid.uuid4().hex) for name in PROJECTS})

    class ResourceClass(Thing):
        def create(self):
            objects.ensure_rc(None, self.name)

    gabbits.APIFixture.start_fixture = start
    gabbits.APIFixture.stop_fixture = lambda fixture: None
    gabbits.tb = objects
    gabbits.user_obj = types.SimpleNamespace(User=Thing)
    gabbits.project_obj = types.SimpleNamespace(Project=Thing)
    gabbits.rc_obj = types.SimpleNamespace(ResourceClass=ResourceClass)
    return gabbits


def folder():
    """Returns the folder of the files."""
    from placement import tests

    return os.path.join(os.path.dirname(tests.__file__), "functional", "gabbits")


def excluded(release):
    """Returns the reasons by file. An entry names a file or a fixture of files."""
    with open(os.path.join(HERE, "excluded.yaml"), encoding="utf-8") as file:
        entries = [entry for entry in yaml.safe_load(file) if entry.get("release", release) == release]
    reasons = {}
    for path in sorted(glob.glob(os.path.join(folder(), "*.yaml"))):
        with open(path, encoding="utf-8") as file:
            used = yaml.safe_load(file).get("fixtures") or []
        for entry in entries:
            if entry.get("file") == os.path.basename(path) or entry.get("fixture") in used:
                reasons[os.path.basename(path)] = entry["reason"]
    return reasons


def names(environ):
    """Returns the names of the files to look at."""
    wanted = (environ.get("FILES") or "").split()
    return [name for name in sorted(os.listdir(folder())) if name.endswith(".yaml") and (not wanted or name in wanted)]


def run_file(name, application, fixtures):
    """Runs a file. Returns the result, and how many tests there were."""
    # gabbi runs a folder.
    with tempfile.TemporaryDirectory() as alone:
        os.symlink(os.path.join(folder(), name), os.path.join(alone, name))
        suite = driver.build_tests(
            alone, unittest.TestLoader(), intercept=lambda: application, fixture_module=fixtures, test_loader_name="placement")
        result = unittest.TestResult()
        suite.run(result)
    return result


def faults(result):
    """Returns the texts of what has failed."""
    broken = result.failures + result.errors + [(test, "it passed, and was expected to fail") for test in result.unexpectedSuccesses]
    return ["%s\n%s" % (test.id(), text) for test, text in broken]


def run(environ):
    """Runs the files and returns the exit code."""
    begun = time.monotonic()
    identity = Identity(environ)
    api = API(environ["PLACEMENT_URL"], {"X-Auth-Token": identity.admin_token, "OpenStack-API-Version": MICROVERSION})
    fixtures = fixtures_through(Objects(api), identity)
    application = Proxy(environ["PLACEMENT_URL"], identity)
    reasons = excluded(environ.get("PLACEMENT_RELEASE") or "2025.1")
    count = {"passed": 0, "failed": 0, "excluded": 0, "tests": 0}
    for name in names(environ):
        if name in reasons:
            count["excluded"] += 1
            print("excluded %s: %s" % (name, reasons[name]), flush=True)
            continue
        result = run_file(name, application, fixtures)
        found = faults(result)
        outcome = "failed" if found or not result.testsRun else "passed"
        count[outcome] += 1
        count["tests"] += result.testsRun
        print("%s %s: %d tests, %d failed" % (outcome, name, result.testsRun, len(found)), flush=True)
        for text in found:
            print("    " + text.strip().replace("\n", "\n    "), flush=True)
    count["seconds"] = round(time.monotonic() - begun)
    print(", ".join("%s %d" % item for item in count.items()), flush=True)
    try:
        with open(TERMINATION_LOG, "w", encoding="utf-8") as file:
            json.dump(count, file)
    except OSError:
        # Outside a container there is none.
        pass
    return 0 if count["passed"] and not count["failed"] else 1


def main():
    """Runs or lists the files."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if sys.argv[1:] != ["--list"]:
        return run(os.environ)
    fixtures_through(None, None)
    print("\n".join(names(os.environ)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
