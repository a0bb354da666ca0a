#!/usr/bin/env python3
"""Finds waits in the end-to-end suites that a busy machine may miss.

A wait that is over when its state is reached may last any time, so a deadline near the
normal time proves nothing and fails by chance. What must not take long is shown by
what happens. A wait of five seconds is allowed, for a state that is final already, and
so is one second in a loop.

Usage: lint_timeouts.py FOLDER...
"""

import re
import sys

import suites

LEAST = 240
SECONDS = {"s": 1, "m": 60, "h": 3600}
# Of an operation, of all operations of a suite, and of kubectl.
TIMEOUT = re.compile(r"(?:^ *(?:timeout|assert|apply|error|exec|delete|cleanup): |--timeout=)(?P<number>\d+)(?P<unit>[smh]?)\b")
ALLOWED = {"timeout: 5s", "--timeout=1s"}


def faults(text):
    """Returns the lines, counted from one, with a wait that is too short, and that wait."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        for wait in TIMEOUT.finditer(line):
            term = wait[0].strip()
            if term not in ALLOWED and int(wait["number"]) * SECONDS[wait["unit"] or "s"] < LEAST:
                found.append((number, term))
    return found


def described(text):
    return [(line, f"{wait} fails on a busy machine: wait for at least {LEAST // 60} minutes") for line, wait in faults(text)]


def main(folders):
    return suites.lint(folders, described)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
