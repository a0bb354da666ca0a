#!/usr/bin/env bash
# Starts the next version after one has been published: the published charts become
# those that upgrades are tested from, and VERSION names the next one.
#
# Usage: next.sh FOLDER VERSION
#   FOLDER   the files of the release that was published
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$1 next=$2 version=$(<VERSION)

if [[ ! $next =~ ^[0-9]+\.[0-9]+\.[0-9]+$ || $(printf '%s\n' "$version" "$next" | sort -V | tail -n 1) != "$next" || $next == "$version" ]]; then
	echo "NEXT must be a version after $version, such as 1.2.3, not \"$next\"" >&2
	exit 1
fi
(cd "$folder" && sha256sum --quiet --check sha256sums.txt)
charts=("$folder"/*-operator-"$version".tgz)
[[ -e ${charts[0]} ]] || { echo "$folder has no charts of version $version: run make release" >&2; exit 1; }
rm -f tests/e2e/released/*.tgz
cp "${charts[@]}" tests/e2e/released
echo "$next" >VERSION
