#!/usr/bin/env python3
"""Prints the queries of dashboards as a file of recording rules, which promtool
checks.

Usage: queries.py DASHBOARD...
Grafana's variables, such as $__range, are replaced by values.
"""

import json
import sys

# A time range for Grafana's own variables, and a possible value for the
# dashboard's.
VARIABLES = {"$__range": "6h", "$__rate_interval": "5m", "$__interval": "1m", "$namespace": ".*", "$job": ".*"}


def filled(query):
    """Returns a query with Grafana's variables replaced by values."""
    # The longest first, since a variable's name may be a prefix of another's.
    for variable in sorted(VARIABLES, key=len, reverse=True):
        query = query.replace(variable, VARIABLES[variable])
    return query


def queries(dashboard):
    """Yields the queries of a dashboard with their variables filled in."""
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []) + [t for inner in panel.get("panels", []) for t in inner.get("targets", [])]:
            query = filled(target["expr"])
            if "$" in query:
                raise ValueError(f"panel \"{panel['title']}\": unknown variable: {target['expr']}")
            yield query


def rules(dashboards):
    """Returns the queries of dashboards as groups of recording rules."""
    return {"groups": [
        {"name": dashboard["uid"],
         "rules": [{"record": f"query:{i}", "expr": query} for i, query in enumerate(queries(dashboard))]}
        for dashboard in dashboards
    ]}


def main(paths):
    dashboards = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            dashboards.append(json.load(file))
    # JSON is valid YAML.
    print(json.dumps(rules(dashboards), indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
