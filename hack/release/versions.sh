#!/usr/bin/env bash
# Copies the version of the next release from the file VERSION to
# all other places that need it: charts, what they install and what Flux deploys have the
# same one.
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

# What Flux deploys are the manifests, charts and images of one release.
mapfile -t releases < <(grep -l 'name: c5c3-charts$' deploy/flux-system/releases/*.yaml)
sed -i -E "s/^(      version): .*/\1: $version/" "${releases[@]}"
sed -i -E "/^  name: forge\$/,/^---/s/^(    tag): .*/\1: v$version/" deploy/flux/sources.yaml
sed -i -E "s#(github.com/c5c3/forge//[a-z/-]+\?ref=)[^\"]*#\1v$version#" deploy/flux/kustomization.yaml docs/deploy-infra.md
sed -i -E "/^  name: forge-charts\$/,/^\`/s/^(    tag): .*/\1: v$version/" docs/start/flux.md
