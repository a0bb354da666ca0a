#!/usr/bin/env python3
"""Writes the manifests of this suite, which are variations of one valid Keystone.

Each is that Keystone with a single mistake. Without arguments the files are
written. With --check nothing is written, and the exit code is 1 if a file is
outdated.
"""

import argparse
import copy
import json
import pathlib
import sys
from dataclasses import dataclass
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent

# The minimal Keystone.
SCAFFOLD = {
    "apiVersion": "keystone.openstack.c5c3.io/v1alpha1",
    "kind": "Keystone",
    "metadata": {},
    "spec": {
        "image": {"repository": "ghcr.io/c5c3/keystone", "tag": "2025.1"},
        "database": {
            "clusterRef": {"name": "mariadb"},
            "database": "keystone",
            "secretRef": {"name": "keystone-db"},
        },
        "cache": {"clusterRef": {"name": "memcached"}},
        "bootstrap": {"adminPasswordSecretRef": {"name": "keystone-admin"}},
    },
}


@dataclass(frozen=True)
class Fixture:
    """One manifest: its file, the description of the mistake, and the fields that make it."""

    filename: str
    description: str
    spec: dict[str, Any]

    @property
    def name(self) -> str:
        """The Keystone's name, by which an error can be traced to its file."""
        return "invalid-" + self.filename.split("-", 1)[0]

    def manifest(self) -> dict[str, Any]:
        """The scaffold, merged with the fields of the fixture."""
        manifest = copy.deepcopy(SCAFFOLD)
        manifest["metadata"]["name"] = self.name
        merge(manifest["spec"], self.spec)
        return manifest

    def render(self) -> str:
        """The file's content."""
        header = f"# {self.description}\n# Written by _generate.py: change it there.\n"
        return header + "\n".join(to_yaml(self.manifest())) + "\n"


FIXTURES = [
    Fixture(
        "02-database-both-modes.yaml",
        "A database that is both managed and external.",
        {"database": {"host": "db.example.com"}},
    ),
    Fixture(
        "03-cache-both-modes.yaml",
        "A cache that is both managed and external.",
        {"cache": {"servers": ["memcached.example.com:11211"]}},
    ),
    Fixture(
        "04-autoscaling-no-target.yaml",
        "Autoscaling without a target.",
        {"autoscaling": {"minReplicas": 1, "maxReplicas": 3}},
    ),
    Fixture(
        "05-policy-overrides-no-source.yaml",
        "Policy overrides without a source.",
        {"policyOverrides": {}},
    ),
    Fixture(
        "06-policy-overrides-empty-rule-key.yaml",
        "A policy rule without a name.",
        {"policyOverrides": {"rules": {"": "role:admin"}}},
    ),
    Fixture(
        "07-networkpolicy-empty-ingress.yaml",
        "A network policy that admits no clients.",
        {"networkPolicy": {"ingress": []}},
    ),
    # Defaulting turns 0 replicas into 3 before the rules are checked, so only a
    # negative number violates the rule.
    Fixture(
        "09-replicas-negative.yaml",
        "A negative number of replicas.",
        {"replicas": -1},
    ),
    Fixture(
        "10-hpa-min-greater-than-max.yaml",
        "Autoscaling whose minimum exceeds its maximum.",
        {"autoscaling": {"minReplicas": 5, "maxReplicas": 2, "targetCPUUtilization": 80}},
    ),
    Fixture(
        "11-fernet-maxactivekeys-below-minimum.yaml",
        "Fewer Fernet keys than a primary, a secondary and a staged one.",
        {"fernet": {"maxActiveKeys": 2}},
    ),
    Fixture(
        "12-credentialkeys-maxactivekeys-below-minimum.yaml",
        "Fewer credential keys than a primary, a secondary and a staged one.",
        {"credentialKeys": {"maxActiveKeys": 2}},
    ),
]


def merge(base: dict[str, Any], overlay: dict[str, Any]) -> None:
    """Merges overlay into base; maps are merged, everything else is replaced."""
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(base.get(key), dict):
            merge(base[key], value)
        else:
            base[key] = value


def to_yaml(value: Any, indent: str = "") -> list[str]:
    """The lines of a map of maps, lists of scalars, and scalars."""
    lines = []
    for key, field in value.items():
        name = f"{indent}{scalar(key)}:"
        if isinstance(field, dict) and field:
            lines += [name, *to_yaml(field, indent + "  ")]
        elif isinstance(field, list) and field:
            lines += [name, *(f"{indent}  - {scalar(entry)}" for entry in field)]
        else:
            lines.append(f"{name} {scalar(field)}")
    return lines


def scalar(value: Any) -> str:
    """A scalar or an empty collection, with quotes only where YAML needs them."""
    if not isinstance(value, str):
        return json.dumps(value)
    plain = value[:1].isalpha() and all(c.isalnum() or c in "./-_:" for c in value)
    return value if plain and not value.endswith(":") else json.dumps(value)


def stale() -> list[str]:
    """The files whose content is outdated."""
    return [
        fixture.filename
        for fixture in FIXTURES
        if not (HERE / fixture.filename).is_file()
        or (HERE / fixture.filename).read_text(encoding="utf-8") != fixture.render()
    ]


def main(arguments: list[str] | None = None) -> int:
    """Writes or checks the files and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is out of date")
    check = parser.parse_args(arguments).check
    names = stale()
    if check and names:
        print(f"out of date: {', '.join(names)}\nrun python3 {pathlib.Path(__file__).name} and commit the result", file=sys.stderr)
        return 1
    if not check:
        for fixture in FIXTURES:
            (HERE / fixture.filename).write_text(fixture.render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
