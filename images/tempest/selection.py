"""Selects tests: all of the Identity API, a short list of them, or those of the Image API, without those that are excluded."""

import fnmatch
import re

import yaml

# Of Tempest and its plugin, by module. Scenarios of federation need an identity provider.
MODULES = ("tempest.api.identity.", "keystone_tempest_plugin.tests.api.", "keystone_tempest_plugin.tests.rbac.")
IMAGE_MODULES = ("tempest.api.image.v2.",)
FULL, SHORT, IMAGE = "full", "short", "image"


class Invalid(Exception):
    """A file with tests, or the selection, is unusable."""


def number(release):
    """Returns a release such as "2025.1" as a pair of numbers, which can be compared."""
    found = re.fullmatch(r"(\d{4})\.([12])", release)
    if not found:
        raise Invalid("%r is no release of OpenStack such as 2025.1" % release)
    return int(found[1]), int(found[2])


def name(test):
    """Returns the name of a test without the attributes that Tempest appends."""
    return test.id().partition("[")[0]


def flatten(suite):
    """Yields the single tests of nested suites."""
    for test in suite:
        if hasattr(test, "__iter__"):
            yield from flatten(test)
        else:
            yield test


class Excluded:
    """The tests that are left out, each with its reason."""

    def __init__(self, path, release):
        with open(path, encoding="utf-8") as file:
            entries = yaml.safe_load(file) or []
        for entry in entries:
            absent = {"test", "reason", "link"} - set(entry)
            if absent:
                raise Invalid("%s: %r has no %s" % (path, entry.get("test", entry), ", ".join(sorted(absent))))
        self.entries = [entry for entry in entries if self.applies(entry, number(release))]

    @staticmethod
    def applies(entry, release):
        """Reports whether the entry is about the release: "from" is the first, "until" the last one."""
        return number(entry.get("from", "2000.1")) <= release <= number(entry.get("until", "9999.2"))

    def reason(self, test):
        """Returns why the test is left out, or None. An entry names tests, or classes or modules of them."""
        for entry in self.entries:
            patterns = entry["test"] if isinstance(entry["test"], list) else [entry["test"]]
            if any(fnmatch.fnmatchcase(test, pattern) or fnmatch.fnmatchcase(test, pattern + ".*") for pattern in patterns):
                return entry["reason"]
        return None


def covers(prefix, test):
    """Reports whether the prefix is the name of the test or of something that contains it."""
    return test == prefix or test.startswith(prefix + ".")


def short(path):
    """Returns the names in the file of the short selection."""
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def select(tests, selection, short_names, excluded):
    """Returns the selected tests, and the number of those that are excluded."""
    if selection not in (FULL, SHORT, IMAGE):
        raise Invalid("SELECTION is %r: set it to %s, %s or %s" % (selection, FULL, SHORT, IMAGE))
    modules = IMAGE_MODULES if selection == IMAGE else MODULES
    names = {name(test): test for test in tests if name(test).startswith(modules)}
    if selection == SHORT:
        names = {test: names[test] for test in names if any(covers(prefix, test) for prefix in short_names)}
    kept = [test for test_name, test in names.items() if excluded.reason(test_name) is None]
    return kept, len(names) - len(kept)
