#!/usr/bin/env bash
# Copies the version of the next release from the file VERSION to
# all other places that need it: charts and what they install have the same one.
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
