"""Measures the delays that users experience on a real cluster, and what an idle one costs.

It uses the cluster of "make quickstart", for a ControlPlane and for changes with the
additions of "make deploy-infra". Each run has a separate namespace and database and
removes both. Other load on the cluster affects the results, so there should be none.
"""

import argparse
import json

import api
import changes
import controlplane
import idle
import ready

PARTS = {"ready": ready, "controlplane": controlplane, "api": api, "changes": changes, "idle": idle}


def parse():
    described = "\n".join(f"{name:13} {part.__doc__}" for name, part in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="bench-cluster", description=f"{__doc__}\n{described}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=20, help="for api: how long each load lasts")
    parser.add_argument("--settings", action="append", choices=api.SCENARIOS, help="for api: a setting to measure; all by default")
    parser.add_argument("--rate", type=int, default=30, help="for changes: requests per second")
    parser.add_argument("--requests", type=int, default=10000, help="for changes: the number of requests during each, at least")
    parser.add_argument("--idle-seconds", type=int, default=600, help="for idle: how long the node is measured, without the pods and with them")
    parser.add_argument("--idle-keystones", type=int, default=1, help="for idle: the number of Keystones")
    parser.add_argument("--idle-pods", type=int, default=20, help="for idle: the number of API pods of each")
    parser.add_argument("--settle-seconds", type=int, default=60, help="for idle: how long the cluster is left alone before")
    parser.add_argument("--samples", required=True, help="file that receives the figures of every run")
    parser.add_argument("parts", nargs="+", choices=PARTS, metavar="part", help=", ".join(PARTS))
    options = parser.parse_args()
    if min(number for number in vars(options).values() if isinstance(number, int)) < 1:
        parser.error("numbers must be at least 1")
    # The kubelet's figures may be a quarter of a minute old.
    if options.idle_seconds < 60:
        parser.error("--idle-seconds must be at least 60")
    return options


def table(part, options):
    """Returns the table of a part as "bench -samples" reads it."""
    rows = {}
    for _ in range(options.runs):
        for scenario, size, figures in part.measure(options):
            samples = rows.setdefault((scenario, size), {})
            for column, value in figures.items():
                samples.setdefault(column, []).append(value)
    return {
        "name": part.NAME,
        "columns": [{"name": name, "timed": True, "digits": digits} for name, digits in part.COLUMNS.items()],
        "scenarios": part.SCENARIOS,
        "rows": [{"scenario": scenario, "size": size, "samples": samples} for (scenario, size), samples in rows.items()],
    }


def main():
    options = parse()
    tables = [table(PARTS[name], options) for name in options.parts]
    with open(options.samples, "w", encoding="utf-8") as file:
        json.dump(tables, file, indent=1)


if __name__ == "__main__":
    main()
