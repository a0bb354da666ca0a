#!/usr/bin/env python3
"""Prints the changes in a version, from the commits since VERSION was last changed.

Usage: changelog.py VERSION

The file VERSION names the next release as soon as the previous one is published, so
the commits since then belong to the next release, with or without tags.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPERATORS = subprocess.run((ROOT / "hack" / "tools" / "operators.sh", "--programs"), check=True, capture_output=True, text=True).stdout.split()
SEVERAL = "Several operators"


def heading(operator):
    """Returns the section of an operator. Services have a name, c5c3 is an abbreviation."""
    if operator == "openstack":
        return "OpenStack operator"
    return f"{operator.capitalize() if operator.isalpha() else operator} operator"


def operator_of(paths):
    """Returns the section of the operators that a commit touches, or nothing."""
    touched = [operator for operator in OPERATORS if touches(paths, f"operators/{operator}/")]
    if len(touched) == 1:
        return heading(touched[0])
    return SEVERAL if touched or touches(paths, "internal/common/") else None


# The other sections, by the files that a commit touches. The first match counts.
SECTIONS = (
    ("Charts", lambda paths: any("/helm/" in path for path in paths)),
    ("kubectl forge", lambda paths: touches(paths, "kubectl-forge/")),
    ("Deployment", lambda paths: touches(paths, "deploy/") or touches(paths, "hack/deploy-infra")),
    ("Documentation", lambda paths: bool(paths) and all(path.startswith("docs/") or path.endswith(".md") for path in paths)),
    ("Development", lambda paths: True),
)
ORDER = (SEVERAL, *map(heading, OPERATORS), *(name for name, _ in SECTIONS))


def product(path):
    """Reports whether a file reaches users: not tests, nor charts, which have a separate section."""
    return not ("/helm/" in path or "_test.go" in path or "/testdata/" in path or "/testutil/" in path)


def touches(paths, prefix):
    return any(path.startswith(prefix) and product(path) for path in paths)


def section(paths):
    """Returns the heading for a commit that touches these files."""
    return operator_of(paths) or next(name for name, fits in SECTIONS if fits(paths))


def parse(log):
    """Returns (subject, paths) for each commit of "git log --name-only --format=%x00%s"."""
    commits = []
    for entry in filter(None, log.split("\0")):
        subject, _, rest = entry.partition("\n")
        commits.append((subject, [line for line in rest.splitlines() if line]))
    return commits


def render(version, date, commits):
    """Returns the changelog as Markdown."""
    lines = [f"# {version} ({date})", ""]
    for name in ORDER:
        subjects = [subject for subject, paths in commits if section(paths) == name]
        if subjects:
            lines += [f"## {name}", ""] + [f"- {subject}" for subject in subjects] + [""]
    if not commits:
        lines += ["Nothing has changed.", ""]
    return "\n".join(lines)


def git(*arguments):
    return subprocess.run(("git", *arguments), check=True, capture_output=True, text=True).stdout


def main(arguments):
    [version] = arguments
    start = git("log", "-1", "--format=%H", "--", "VERSION").strip()
    log = git("log", "--no-merges", "--reverse", "--name-only", "--format=%x00%s", f"{start}..HEAD" if start else "HEAD")
    date = git("log", "-1", "--format=%cs").strip()
    print(render(version, date, parse(log)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
