#!/usr/bin/env python3
"""Splits the end-to-end suites into parts that can run one after the other, or on several clusters.

Usage: shard.py I/N FOLDER
Prints the chainsaw-test.yaml of each suite below the folder that belongs to part I of N.

The suites are dealt out in the order of their names, starting with those that run alone, which
take most of the time of a run. So each part gets an equal share of these, and of the suites of
each operator. No list of durations has to be kept up to date. A suite that is added or renamed
moves others to another part, so the parts only add up to all suites if they are made from the same
list: the line on standard error has its digest.
"""

import hashlib
import pathlib
import re
import sys

SHARD = re.compile(r"([0-9]+)/([0-9]+)", re.ASCII)
ALONE = re.compile(r"^  concurrent: false$", re.MULTILINE)


def parse(text):
    """Returns the part and the number of parts of a text such as "1/3"."""
    match = SHARD.fullmatch(text)
    part, parts = (int(match[1]), int(match[2])) if match else (0, 0)
    if not 1 <= part <= parts:
        raise ValueError(f'SHARD="{text}" is no part of a split: write the number of the part and that of all parts, such as SHARD=1/3')
    return part, parts


def split(suites, part, parts):
    """Returns the names that belong to a part, in order.

    suites maps the name of each suite to whether nothing else may run beside it.
    """
    dealt = sorted(suites, key=lambda name: (not suites[name], name))
    return sorted(dealt[part - 1::parts])


def digest(names):
    """Identifies a list of suites."""
    return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()[:8]


def read(folder):
    """Returns the suites below a folder by their files."""
    files = sorted(pathlib.Path(folder).rglob("chainsaw-test.yaml"))
    return {str(file): bool(ALONE.search(file.read_text(encoding="utf-8"))) for file in files}


def main(text, folder):
    try:
        part, parts = parse(text)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    suites = read(folder)
    chosen = split(suites, part, parts)
    print(f"shard {part}/{parts} has {len(chosen)} of {len(suites)} suites, whose list is {digest(suites)}", file=sys.stderr)
    print("".join(f"{name}\n" for name in chosen), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
