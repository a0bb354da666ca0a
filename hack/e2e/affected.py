#!/usr/bin/env python3
"""Prints the core end-to-end suites that what has changed can break: their names, or "all".

Usage: affected.py
Compares the checkout with the commit in .ci/green, the newest one of which somebody has seen that
.ci/run passed. Without that file, or without that commit in the history, it prints "all".
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GREEN = ".ci/green"
CORE = '\n    core: "true"\n'
# The operator of ControlPlanes runs every service, and every service needs an Identity service.
TOP, BASE = "c5c3", "keystone"


def operators_of(path, operators):
    """Returns the operators whose suites a change of the file can break, None for all."""
    match pathlib.PurePosixPath(path).parts:
        case _ if path == GREEN or path.endswith("_test.go"):
            return set()
        case ["operators", name, *_] if name in operators and name != BASE:
            return {name, TOP}
        case ["tests", "e2e", name, folder, _, *_] if name in operators and folder != "steps":
            return {name}
        case _:
            return None


def affected(paths, suites):
    """Returns those of the suites that a change of the files can break.

    The name of a suite begins with that of its operator. Without a list of files these are all.
    """
    operators = {suite.split("/")[0] for suite in suites}
    if paths is None:
        return suites
    hit = set()
    for path in paths:
        found = operators_of(path, operators)
        if found is None:
            return suites
        hit |= found
    return [suite for suite in suites if suite.split("/")[0] in hit]


def changed(root):
    """Returns the files that differ from the green commit, those that are not committed included, or None."""
    try:
        green = (root / GREEN).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    git = ["git", "-C", str(root)]
    if subprocess.run([*git, "merge-base", "--is-ancestor", green, "HEAD"], stderr=subprocess.DEVNULL, check=False).returncode:
        return None
    differ = subprocess.run([*git, "diff", "--name-only", "--no-renames", "-z", green], check=True, stdout=subprocess.PIPE, text=True)
    new = subprocess.run([*git, "ls-files", "--others", "--exclude-standard", "-z"], check=True, stdout=subprocess.PIPE, text=True)
    return [path for path in (differ.stdout + new.stdout).split("\0") if path]


def core(folder):
    """Returns the names of the core suites below a folder."""
    files = sorted(pathlib.Path(folder).rglob("chainsaw-test.yaml"))
    return [str(file.parent.relative_to(folder)) for file in files if CORE in file.read_text(encoding="utf-8")]


if __name__ == "__main__":
    every = core(ROOT / "tests" / "e2e")
    run = affected(changed(ROOT), every)
    print(f"{len(run)} of {len(every)} core suites", file=sys.stderr)
    print(*(["all"] if run == every else run))
