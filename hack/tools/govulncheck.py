#!/usr/bin/env python3
"""Checks the functions that the modules call for known vulnerabilities.

Usage: govulncheck.py GOVULNCHECK ACCEPTED MODULE-FOLDER...
    ACCEPTED  a list of known and accepted vulnerabilities, each with the last day
              on which it is accepted and the reason

If the vulnerability database is unreachable, nothing can be checked: a message says
so, and the check does not fail.
"""

import datetime
import json
import subprocess
import sys


def read_accepted(text, today):
    """Returns {identifier: reason} and the problems of the list."""
    accepted, problems = {}, []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            identifier, until, reason = line.split(maxsplit=2)
            day = datetime.date.fromisoformat(until)
        except ValueError:
            problems.append(f"line {number}: expected an ID, a date and a reason: {line}")
            continue
        if day < today:
            problems.append(f"{identifier}: the exception expired on {until}; update the module, or review the vulnerability again")
        accepted[identifier] = reason
    return accepted, problems


def documents(text):
    """Yields the JSON documents of govulncheck's output, which are concatenated."""
    decoder, position = json.JSONDecoder(), 0
    while position < len(text):
        document, end = decoder.raw_decode(text, position)
        yield document
        position = end + len(text[end:]) - len(text[end:].lstrip())


def called(text):
    """Returns {identifier: where} of the vulnerabilities in functions that are called."""
    found = {}
    for document in documents(text.lstrip()):
        finding = document.get("finding")
        # The first frame is the vulnerable symbol; it names a function only if that
        # is called.
        if finding and "function" in finding["trace"][0]:
            frame = finding["trace"][0]
            fixed = finding.get("fixed_version")
            found[finding["osv"]] = f"{frame['package']}.{frame['function']} in {frame['module']}" + (f", fixed in {fixed}" if fixed else ", not fixed")
    return found


def judge(found, accepted):
    """Returns the problems, one line each."""
    new = [f"{identifier}: {where}" for identifier, where in sorted(found.items()) if identifier not in accepted]
    return new + [f"{identifier} is no longer found: remove its exception" for identifier in sorted(set(accepted) - set(found))]


def check(program, folders):
    """Returns the findings in all folders, None if the database cannot be reached."""
    found = {}
    for folder in folders:
        done = subprocess.run((program, "-C", folder, "-format", "json", "./..."), capture_output=True, text=True, check=False)
        if "fetching vulnerabilities" in done.stderr:
            return None
        if done.returncode != 0:
            raise RuntimeError(f"{folder}: {done.stderr.strip()}")
        found |= called(done.stdout)
    return found


def main(arguments):
    program, path, *folders = arguments
    with open(path, encoding="utf-8") as file:
        accepted, problems = read_accepted(file.read(), datetime.date.today())
    try:
        found = check(program, folders)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    if found is None:
        print("not checked: the vulnerability database cannot be reached")
    else:
        problems += judge(found, accepted)
        print(f"{len(folders)} modules, {len(found)} vulnerabilities of which {len(accepted)} are accepted")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
