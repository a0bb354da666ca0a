#!/usr/bin/env bash
# Writes the version of the next release, which stands in the file VERSION, to
# wherever else it has to be: charts and what they install have the same one.
#
# Usage: versions.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

version=$(<VERSION)
if [[ ! $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]]; then
	echo "VERSION has to hold a version such as 1.2.3 or 1.2.3-rc.1, not \"$version\"" >&2
	exit 1
fi
sed -i -E "s/^(version|appVersion): .*/\1: $version/" operators/*/helm/*-operator/Chart.yaml
