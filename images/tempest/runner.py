"""Runs tests, by class, in several processes."""

import contextlib
import multiprocessing
import os
import time
import traceback
import unittest

import testtools
from oslo_config import cfg

import selection
from results import FAILED, PASSED, SKIPPED, Result
from selection import name

# In their preparation these authorise access to the project of the administrator.
IN_PROJECT = ("keystone_tempest_plugin.tests.api.identity.v3.test_oauth1_tokens",)

# The tests by class. Each process has inherited them.
classes = {}


class Recorder(testtools.TestResult):
    """Keeps the results of the tests of a class."""

    def __init__(self):
        super().__init__()
        self.found = {}
        # Of the whole class: its preparation has failed or been skipped.
        self.whole = None
        self.begun = time.monotonic()

    def startTest(self, test):
        super().startTest(test)
        self.begun = time.monotonic()

    def keep(self, test, result, text=""):
        """Keeps a result. A failure remains one, whatever the test's cleanup says after it."""
        if not isinstance(test, unittest.TestCase):
            self.whole = Result(test.id(), result, text, 0)
        elif self.found.get(name(test), (None, None))[1] != FAILED:
            self.found[name(test)] = Result(name(test), result, text, time.monotonic() - self.begun)

    def addSuccess(self, test, details=None):
        self.keep(test, PASSED)

    def addError(self, test, err=None, details=None):
        self.keep(test, FAILED, error(err, details))

    def addFailure(self, test, err=None, details=None):
        self.keep(test, FAILED, error(err, details))

    def addSkip(self, test, reason=None, details=None):
        self.keep(test, SKIPPED, reason or (details["reason"].as_text() if details and "reason" in details else ""))

    def addExpectedFailure(self, test, err=None, details=None):
        self.keep(test, PASSED)

    def addUnexpectedSuccess(self, test, details=None):
        self.keep(test, FAILED, "it passed, and was expected to fail")


def error(err, details):
    """Returns the traceback alone: other details are logs of requests."""
    if err is not None:
        return "".join(traceback.format_exception(*err))
    return "\n".join(content.as_text() for key, content in (details or {}).items() if key.startswith("traceback"))


@contextlib.contextmanager
def administrator(key):
    """Makes the administrator that prepares the tests of a class one of the project where they need it."""
    if not any(selection.covers(prefix, key) for prefix in IN_PROJECT):
        yield
        return
    in_project = {
        "admin_system": None,
        "admin_project_name": os.environ.get("OS_PROJECT_NAME") or "admin",
        "admin_project_domain_name": os.environ.get("OS_PROJECT_DOMAIN_NAME") or "Default",
    }
    for option, value in in_project.items():
        cfg.CONF.set_override(option, value, "auth")
    try:
        yield
    finally:
        for option in in_project:
            cfg.CONF.clear_override(option, "auth")


def run_class(key):
    """Runs the tests of a class and returns a result for each."""
    recorder = Recorder()
    with administrator(key):
        unittest.TestSuite(classes[key]).run(recorder)
    results = []
    for test in classes[key]:
        found = recorder.found.get(name(test))
        if found is None:
            whole = recorder.whole or Result(key, FAILED, "it did not run", 0)
            found = whole._replace(test=name(test))
        results.append(found)
    # What fails after the last test, the removal of users and projects, is nobody's result.
    if recorder.whole and recorder.whole.result == FAILED and len(recorder.found) == len(classes[key]):
        results[-1] = recorder.whole._replace(test=results[-1].test)
    return results


def run(tests, processes):
    """Yields the results of the tests as their classes end."""
    classes.clear()
    for test in tests:
        classes.setdefault(unittest.util.strclass(test.__class__), []).append(test)
    # Long classes first, so that the processes end at about the same time.
    keys = sorted(classes, key=lambda key: -len(classes[key]))
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        for results in pool.imap_unordered(run_class, keys):
            yield from results
