#!/usr/bin/env bash
# Copies an operator's CRDs and the rules of its role into its Helm chart. An
# operator without a chart is skipped.
#
# Usage: chart.sh [--check] OPERATOR_DIR CHART_DIR
#   --check   compare instead of copying, and fail if anything differs
set -euo pipefail

check=
if [[ $1 == --check ]]; then
	check=1
	shift
fi
operator=$1 chart=$2
[[ -f $chart/Chart.yaml ]] || exit 0
if [[ ! -f $chart/files/operator.yaml ]]; then
	echo "$chart/files/operator.yaml is missing: write it as operators/shared/helm/operator-library/README.md says" >&2
	exit 1
fi

# place CONTENT TARGET writes a file or, with --check, fails if it differs.
place() {
	local content=$1 target=$2
	if [[ -z $check ]]; then
		mkdir -p "$(dirname "$target")"
		cp "$content" "$target"
	elif ! diff -u "$target" "$content"; then
		echo "$target is out of date: run make generate" >&2
		return 1
	fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for crd in "$operator"/config/crd/bases/*.yaml; do
	place "$crd" "$chart/crds/$(basename "$crd")"
done

# The chart wraps the rules in a ClusterRole or a Role.
role=$operator/config/rbac/role.yaml
if [[ -f $role ]]; then
	sed '1,/^rules:/d' "$role" >"$work/rules.yaml"
	place "$work/rules.yaml" "$chart/files/rbac-rules.yaml"
fi
