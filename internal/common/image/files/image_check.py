"""Says how this image serves the API and which version of the service it holds.

Usage: image_check.py [MAJOR]

The finding is the termination message of the container, as JSON. An image that lacks
something, or holds another major version than the given one, ends with 69 (EX_UNAVAILABLE).
"""

import importlib.util
import json
import os
import shutil
import sys
from importlib import metadata

# The operator replaces these by the name of the service's Python distribution, the path of
# the script that serves the API, the module with the application as module:name, and the
# programs and Python modules that the image must have.
DISTRIBUTION = ""
SCRIPT = ""
MODULE = ""
PROGRAMS = []
LIBRARIES = []

FINDING = "/dev/termination-log"
UNFIT = 69


def importable(name):
    try:
        return importlib.util.find_spec(name) is not None
    except ImportError:
        # A package that the module is part of is missing.
        return False


def script():
    """Returns the path of the script: where images of this family have it, or anywhere in PATH."""
    if os.path.isfile(SCRIPT):
        return SCRIPT
    return shutil.which(os.path.basename(SCRIPT)) or ""


def module():
    return MODULE if importable(MODULE.partition(":")[0]) else ""


def version():
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return ""


def lacks(found):
    missing = ["the program %s in its PATH" % name for name in PROGRAMS if not shutil.which(name)]
    missing += ["the Python module %s" % name for name in LIBRARIES if not importable(name)]
    if not found["script"] and not found["module"]:
        missing.append("the script %s and the Python module %s, one of which serves the API"
                       % (os.path.basename(SCRIPT), MODULE.partition(":")[0]))
    return missing


def main(major=""):
    found = {"script": script(), "module": module(), "version": version()}
    missing = lacks(found)
    if missing:
        print("the image lacks " + ", and ".join(missing), file=sys.stderr)
        return UNFIT
    if major and found["version"] and found["version"].partition(".")[0] != major:
        print("the image holds %s %s, but its tag stands for major version %s: use an image of that release, or correct the tag"
              % (DISTRIBUTION, found["version"], major), file=sys.stderr)
        return UNFIT
    with open(FINDING, "w", encoding="utf-8") as message:
        json.dump(found, message)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
