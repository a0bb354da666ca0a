#!/usr/bin/env bash
# Copies from the charts of the services' operators what the chart of the program that runs all of
# them needs: their CRDs, and their files in a folder for each.
#
# Usage: services-chart.sh [--check] CHART_DIR
#   --check   compare instead of copying, and fail if anything differs
set -euo pipefail

check=
if [[ $1 == --check ]]; then
	check=1
	shift
fi
chart=$1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/crds" "$work/files"
cp "$chart/files/operator.yaml" "$work/files"

mapfile -t described < <(grep --files-with-matches '^service: true$' operators/*/helm/*-operator/files/operator.yaml)
for description in "${described[@]}"; do
	from=${description%/files/operator.yaml}
	service=$(basename "$from")
	cp "$from"/crds/*.yaml "$work/crds"
	cp --recursive "$from/files" "$work/files/${service%-operator}"
done

for folder in crds files; do
	if [[ -z $check ]]; then
		rm -rf "${chart:?}/$folder"
		cp --recursive "$work/$folder" "$chart/$folder"
	elif ! diff --recursive --unified "$chart/$folder" "$work/$folder"; then
		echo "$chart/$folder is out of date: run make generate" >&2
		exit 1
	fi
done
