#!/usr/bin/env python3
"""Prints the duration of each suite of a JUnit report, the slowest last, and the failures.

Usage: summary.py REPORT WALL-SECONDS
The failures come at the very end, with the step and the first lines of its output:
often only the end of a long log is read or kept.
"""

import sys
import xml.etree.ElementTree

# The number of lines of a failure's text that are repeated.
LINES = 12


def failures(suite):
    """Yields "step: text" for each failed step of a suite."""
    for case in suite.iter("testcase"):
        for failure in case.iter("failure"):
            text = "\n".join(filter(None, (failure.get("message"), (failure.text or "").strip())))
            yield f"{case.get('name')}: {text}"


def summary(root, wall):
    """Returns the lines for the report whose root element is given."""
    suites = sorted(root.iter("testsuite"), key=lambda suite: float(suite.get("time", 0)))
    broken = [suite for suite in suites if int(suite.get("failures", 0)) > 0]
    lines = ["=== Suites"]
    for suite in suites:
        lines.append(f"{float(suite.get('time', 0)):8.1f} s  {suite.get('name')}{'  FAILED' if suite in broken else ''}")
    total = sum(float(suite.get("time", 0)) for suite in suites)
    lines.append(f"{total:8.1f} s  {len(suites)} suites one after the other, {len(broken)} failed; {wall} s as they ran")
    for suite in broken:
        lines += ["", f"=== {suite.get('name')} failed"]
        for text in failures(suite):
            lines += ["  " + line for line in text.splitlines()[:LINES]]
    return lines


def main(report, wall):
    print("\n".join(summary(xml.etree.ElementTree.parse(report).getroot(), wall)))


if __name__ == "__main__":
    main(*sys.argv[1:])
