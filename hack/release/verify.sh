#!/usr/bin/env bash
# Builds the release of HEAD twice, in two clones in different places, and fails if
# a file differs.
#
# Usage: verify.sh
# Environment: BIN (the pinned tools)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=$(cd "${BIN:?}" && pwd)
work=$(mktemp -d)
export HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm
trap 'rm -rf "$work"' EXIT

# The branch may move meanwhile.
head=$(git rev-parse HEAD)
for place in first second/with/a/longer/path; do
	git clone --quiet --no-hardlinks --no-checkout . "$work/$place"
	git -C "$work/$place" checkout --quiet --detach "$head"
	for chart in "$work/$place"/operators/*/helm/*-operator; do
		"$bin/helm" dependency build --skip-refresh "$chart" >/dev/null
	done
	BIN=$bin "$work/$place/hack/release/release.sh" "$work/$place/.cache/release"
done
if ! diff -u "$work"/{first,second/with/a/longer/path}/.cache/release/sha256sums.txt; then
	echo 'two builds of the same commit differ: these files depend on place or time' >&2
	exit 1
fi
echo 'both builds are identical'
