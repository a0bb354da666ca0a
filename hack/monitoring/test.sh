#!/usr/bin/env bash
# Tests the alert rules of a chart with promtool, and checks the queries of its
# operator's dashboards.
#
# Usage: test.sh HELM CHART
#   HELM    the helm binary
#   CHART   the chart's folder, with its dependencies built. tests/alerts.yaml in it
#           is a file of promtool's tests for the rules of a release of the chart's
#           name in namespace "operators", which it calls rules.yaml. The tests of
#           what all charts have are in the library chart
set -euo pipefail

helm=$1 chart=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
name=$(basename "$chart")
library=$chart/../../../shared/helm/operator-library
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# quietly COMMAND... shows the command's output only if it fails.
quietly() {
	"$@" >"$work/output" 2>&1 || {
		cat "$work/output" >&2
		echo "$name: $1 $2 $3 failed" >&2
		exit 1
	}
}

# common FILE writes a file of the library's tests with the names of the chart.
common() {
	local kind
	kind=$(sed -n 's/^  - kind: //p' "$chart/files/operator.yaml" | head -n 1)
	sed "s/OPERATOR/$name/g; s/METRIC/${name//-/_}/g; s/RESOURCE/${kind,,}/g; s/KIND/$kind/g" \
		"$library/tests/$1" >"$work/$1"
}

# The groups are the whole spec of the PrometheusRule.
"$helm" template "$name" "$chart" --namespace operators --set monitoring.prometheusRule.enabled=true \
	--show-only templates/prometheusrule.yaml | sed '1,/^spec:$/d; s/^  //' >"$work/rules.yaml"
cp "$chart/tests/alerts.yaml" "$work/alerts.yaml"
common operator-alerts.yaml
if grep -qx 'service: true' "$chart/files/operator.yaml"; then
	common service-alerts.yaml
fi
if grep -qx 'database: true' "$chart/files/operator.yaml"; then
	common database-alerts.yaml
fi
"$here/queries.py" "$chart"/../../dashboards/*.json >"$work/queries.yaml"

quietly promtool check rules --lint-fatal "$work/rules.yaml" "$work/queries.yaml"
quietly promtool test rules "$work"/*alerts.yaml
echo "$name: $(grep -c -- '- alert:' "$work/rules.yaml") alerts and $(grep -c '"expr":' "$work/queries.yaml") queries of dashboards"
