"""What the linters of the end-to-end suites share."""

import pathlib
import sys


def lint(folders, faults):
    """Prints the faults of each suite and returns an exit code.

    faults returns the lines, counted from one, of a text, each with what is wrong there.
    """
    failed = False
    files = sorted(file for folder in folders for file in pathlib.Path(folder).rglob("*.yaml"))
    if not files:
        print("no YAML files in " + " ".join(folders), file=sys.stderr)
        return 2
    for file in files:
        for line, fault in faults(file.read_text(encoding="utf-8")):
            print(f"{file}:{line}: {fault}", file=sys.stderr)
            failed = True
    return 1 if failed else 0
