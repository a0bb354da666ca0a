#!/usr/bin/env bash
# Tests the alert rules of a chart with promtool, and checks the queries of its
# operator's dashboards.
#
# Usage: test.sh HELM CHART
#   HELM    the helm binary
#   CHART   the chart's folder, with its dependencies built. tests/alerts.yaml in it
#           is a file of promtool's tests for the rules of a release of the chart's
#           name in namespace "operators", which it calls rules.yaml. The tests of
#           what all charts have are in the library chart. A program that runs the
#           operators of other charts has their alerts, so only the latter are tested
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

# common FILE writes a file of the library's tests with the names of an operator.
common() {
	local kind lease
	kind=$(sed -n 's/^  - kind: //p' "$description" | head -n 1)
	lease=$(sed -n 's/^group: //p' "$description")
	sed "s/PROGRAM_METRIC/${name//-/_}/g; s/PROGRAM/$name/g; s/OPERATOR/$operator/g; s/METRIC/${operator//-/_}/g
		s/RESOURCE/${kind,,}/g; s/KIND/$kind/g; s/LEASE/$lease/g" "$library/tests/$1" >"$work/$operator-$1"
}

# tests writes the library's tests for the operator with the description.
tests() {
	common operator-alerts.yaml
	! grep -qx 'service: true' "$description" || common service-alerts.yaml
	! grep -qx 'database: true' "$description" || common database-alerts.yaml
}

# The groups are the whole spec of the PrometheusRule.
"$helm" template "$name" "$chart" --namespace operators --set monitoring.prometheusRule.enabled=true \
	--show-only templates/prometheusrule.yaml | sed '1,/^spec:$/d; s/^  //' >"$work/rules.yaml"
if [[ -f $chart/tests/alerts.yaml ]]; then
	cp "$chart/tests/alerts.yaml" "$work/alerts.yaml"
	operator=$name description=$chart/files/operator.yaml
	tests
	"$here/queries.py" "$chart"/../../dashboards/*.json >"$work/queries.yaml"
else
	for description in "$chart"/files/*/operator.yaml; do
		operator=$(basename "$(dirname "$description")")-operator
		tests
	done
	echo 'groups: []' >"$work/queries.yaml"
fi

quietly promtool check rules --lint-fatal "$work/rules.yaml" "$work/queries.yaml"
quietly promtool test rules "$work"/*alerts.yaml
echo "$name: $(grep -c -- '- alert:' "$work/rules.yaml") alerts and $(grep -c '"expr":' "$work/queries.yaml" || true) queries of dashboards"
