#!/usr/bin/env python3
"""Runs the queries of dashboards against a Prometheus, and writes the results to a page.

Usage: show.py URL PAGE DASHBOARD...
       show.py --check PAGE DASHBOARD...   fails if a panel is missing from the page

The page shows each panel with its description, its queries and their results. The
text above the mark is kept.
"""

import datetime
import json
import sys
import urllib.parse
import urllib.request

import queries

MARK = "<!-- Written by hack/monitoring/show.py: panels -->\n"
# The maximum number of series that are shown per panel.
SERIES = 6
# Labels that describe how and where a series was scraped.
SCRAPE = {"__name__", "instance", "pod", "job", "container", "endpoint", "service"}


def duration(seconds):
    """Formats a number of seconds like a dashboard."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if abs(seconds) >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.3g} s"


def worded(value, unit):
    """Returns a value in the unit of its panel."""
    number = float(value)
    if number != number:
        return "no data"
    if unit == "s":
        return duration(number)
    if unit == "bytes":
        return f"{number / 2**20:.1f} MiB"
    if unit == "dateTimeAsIso":
        return datetime.datetime.fromtimestamp(number / 1000, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    return f"{number:.3g}{ {'reqps': ' requests/s', 'ops': ' a second'}.get(unit, '')}"


def named(labels):
    """Returns the labels that distinguish a series from the others."""
    if set(labels) <= SCRAPE:
        return labels.get("pod") or labels.get("job") or "all"
    return ", ".join(f"{name}={labels[name]}" for name in sorted(labels) if name not in SCRAPE and labels[name])


def panel(spec, ask):
    """Returns the lines about one panel; ask runs a query and returns Prometheus' list of series."""
    lines = [f"### {spec['title']}", "", spec["description"], ""]
    unit = spec.get("fieldConfig", {}).get("defaults", {}).get("unit")
    rows = []
    for target in spec["targets"]:
        lines += ["```promql", target["expr"], "```", ""]
        rows += [f"| {named(series['metric'])} | {worded(series['value'][1], unit)} |" for series in ask(queries.filled(target["expr"]))]
    if not rows:
        return lines + ["No series: there was nothing of the kind.", ""]
    rows.sort()
    if len(rows) > SERIES:
        rows[SERIES:] = [f"| and {len(rows) - SERIES} more | |"]
    return lines + ["| Series | Value |", "|---|---|", *rows, ""]


def described(dashboards, ask):
    """Returns the part of a page that describes dashboards."""
    lines = []
    for dashboard in dashboards:
        lines += [f"## {dashboard['title']}", ""]
        for spec in dashboard["panels"]:
            lines += [f"**{spec['title']}**", ""] if spec["type"] == "row" else panel(spec, ask)
    return "\n".join(lines)


def missing(text, dashboards):
    """Returns the outdated or missing panels of those dashboards that are on a page.

    A new dashboard is added to the page when its operator is scraped for the first time.
    """
    shown = [dashboard for dashboard in dashboards if f"## {dashboard['title']}\n" in text]
    return [f"{dashboard['title']}: {spec['title']}" for dashboard in shown for spec in dashboard["panels"]
            if spec["type"] != "row" and (f"### {spec['title']}\n\n{spec['description']}\n" not in text
                                          or any(f"\n{target['expr']}\n" not in text for target in spec["targets"]))]


def prometheus(url):
    """Returns a function that runs queries against a Prometheus."""
    def ask(query):
        with urllib.request.urlopen(f"{url}/api/v1/query?{urllib.parse.urlencode({'query': query})}", timeout=30) as answer:
            return json.load(answer)["data"]["result"]
    return ask


def main(source, page, paths):
    dashboards = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            dashboards.append(json.load(file))
    with open(page, encoding="utf-8") as file:
        text = file.read()
    if source == "--check":
        gone = missing(text, dashboards) if MARK in text else ["any"]
        for name in gone:
            print(f"{page}: the panel {name} is missing or out of date; run hack/monitoring/show.py against a Prometheus", file=sys.stderr)
        return 1 if gone else 0
    above, _, _ = text.partition(MARK)
    with open(page, "w", encoding="utf-8") as file:
        file.write(above + MARK + "\n" + described(dashboards, prometheus(source)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
