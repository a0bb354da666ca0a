#!/usr/bin/env python3
"""Completes a CycloneDX bill of materials of a program and makes it reproducible.

Usage: sbom.py NAME VERSION TIME LICENSES <bom.json
    NAME, VERSION  of the program
    TIME           seconds since the epoch, used instead of the current time
    LICENSES       the file with the licenses of the program's modules

The modules of this repository are replaced in go.mod by folders, whose paths mean
nothing outside the repository.
"""

import datetime
import json
import posixpath
import re
import sys

REPOSITORY = "github.com/c5c3/forge"
HEAD = re.compile(r"^=+\n(?P<name>\S+) \S*\nLicense: (?P<license>.+)\n-+$", re.MULTILINE)


def read_licenses(text):
    """Returns the license of each library by its import path."""
    return {found["name"]: found["license"] for found in HEAD.finditer(text)}


def license_of(module, licenses):
    """Returns the license identifiers of a module, whose parts may have their own."""
    return sorted({text for name, text in licenses.items() if name == module or name.startswith(module + "/")})


def own_path(folder, main):
    """Returns the import path of a module of this repository from its folder, as the main module names it."""
    return posixpath.normpath(posixpath.join(main, folder))


def complete(bom, name, version, time, licenses):
    """Returns the bill with a name and licenses, and without anything that differs from run to run."""
    stamp = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
    bom["metadata"]["timestamp"] = stamp.strftime("%Y-%m-%dT%H:%M:%SZ")
    # The hashes of the tool's own binary say nothing about the program.
    for tool in bom["metadata"].get("tools", []):
        tool.pop("hashes", None)
    main_module = bom["metadata"]["component"]["name"]
    bom["metadata"]["component"].update(name=name, version=version)
    renamed = {}
    for component in bom.get("components", []):
        if component["name"].startswith("."):
            before, component["version"] = component["bom-ref"], version
            component["name"] = own_path(component["name"], main_module)
            renamed[before] = component["bom-ref"] = component["purl"] = f"pkg:golang/{component['name']}@v{version}"
        found = ["Apache-2.0"] if component["name"].startswith(REPOSITORY) else license_of(component["name"], licenses)
        component.pop("evidence", None)
        if found:
            component["licenses"] = [{"license": {"id": identifier}} for identifier in found]
    return rename(bom, renamed)


def rename(bom, renamed):
    """Returns the bill with the references in its dependencies replaced."""
    for dependency in bom.get("dependencies", []):
        dependency["ref"] = renamed.get(dependency["ref"], dependency["ref"])
        if "dependsOn" in dependency:
            dependency["dependsOn"] = [renamed.get(ref, ref) for ref in dependency["dependsOn"]]
    return bom


def main(arguments):
    name, version, time, licenses = arguments
    with open(licenses, encoding="utf-8") as file:
        known = read_licenses(file.read())
    bom = complete(json.load(sys.stdin), name, version, int(time), known)
    json.dump(bom, sys.stdout, indent=2)
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
