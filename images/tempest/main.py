#!/usr/bin/python3
"""Runs OpenStack's tests of the Identity or the Image API against the Keystone of the environment.

    main.py          run them
    main.py --list   list their names

The environment: OS_AUTH_URL, OS_USERNAME, OS_PASSWORD and the like, of an administrator of the
system. KEYSTONE_RELEASE is the release of the Keystone. SELECTION is "full" or "short" for the
Identity API, "image" for that of the Glance in the catalog, PROCESSES how many tests run at once. Output: "tests N", a line for each test with its result, its name and
its duration, below it, indented, why it has failed, and at the end a summary. The termination
message is the summary as JSON.
"""

import json
import logging
import os
import sys
import tempfile
import time
import unittest
import warnings

import conf
import results
import runner
import selection

HERE = os.path.dirname(os.path.abspath(__file__))
DEFAULT_RELEASE = "2025.1"
TERMINATION_LOG = "/dev/termination-log"
INVALID = 2


def load():
    """Returns all tests of Tempest and its plugin for Keystone."""
    import tempest
    import keystone_tempest_plugin

    found = []
    folders = (
        (tempest, "api/identity"), (tempest, "api/image"), (keystone_tempest_plugin, "tests/api"), (keystone_tempest_plugin, "tests/rbac"),
    )
    for package, folder in folders:
        base = os.path.dirname(package.__file__)
        # A loader stays in the folder in which it has begun.
        suite = unittest.TestLoader().discover(os.path.join(base, folder), top_level_dir=os.path.dirname(base))
        found += selection.flatten(suite)
    broken = [test for test in found if type(test).__module__ == "unittest.loader"]
    if broken:
        raise selection.Invalid("these modules cannot be loaded: %s" % ", ".join(test.id() for test in broken))
    return found


def selected(environ):
    """Returns the tests to run, and the number of excluded ones."""
    release = environ.get("KEYSTONE_RELEASE") or DEFAULT_RELEASE
    excluded = selection.Excluded(os.path.join(HERE, "excluded.yaml"), release)
    short = selection.short(os.path.join(HERE, "short.yaml"))
    return selection.select(load(), environ.get("SELECTION") or selection.FULL, short, excluded)


def leave(message):
    """Makes the message the termination message of the container."""
    try:
        with open(TERMINATION_LOG, "w", encoding="utf-8") as file:
            file.write(message)
    except OSError:
        # Outside a container there is none.
        pass


def run(environ):
    """Runs the selection and returns the exit code."""
    conf.prepare(environ, tempfile.mkdtemp(prefix="tempest-"))
    tests, excluded = selected(environ)
    print("tests %d" % len(tests), flush=True)
    begun, ended = time.monotonic(), []
    for result in runner.run(tests, int(environ.get("PROCESSES") or 2)):
        ended.append(result)
        results.show(result)
    summary = results.summarise(ended, excluded, time.monotonic() - begun)
    leave(json.dumps(summary))
    return 0 if ended and not summary["failed"] else 1


def main():
    """Runs or lists the tests."""
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    try:
        if sys.argv[1:] != ["--list"]:
            return run(os.environ)
        print("\n".join(selection.name(test) for test in selected(os.environ)[0]))
        return 0
    except (conf.Invalid, selection.Invalid) as problem:
        print("tempest: %s" % problem, file=sys.stderr)
        leave(str(problem))
        return INVALID


if __name__ == "__main__":
    sys.exit(main())
