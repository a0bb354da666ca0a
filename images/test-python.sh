#!/usr/bin/env bash
# Runs the Python tests of folders of this checkout with the Python and the libraries of an image,
# as the user of its containers and without a network.
#
# Usage: test-python.sh ARCHIVE FOLDER...
set -euo pipefail
# shellcheck source=../hack/container/engine.sh
source "$(dirname "${BASH_SOURCE[0]}")/../hack/container/engine.sh"
archive=$1
shift
find_engine
work=$(mktemp -d)
image=localhost/forge-test:${work##*.}
trap '"$engine" rmi "$image" >/dev/null; rm -rf "$work"' EXIT
"$(dirname "${BASH_SOURCE[0]}")/name.sh" "$archive" "$work/image" "$image"
"$engine" load --quiet --input "$work/image" >/dev/null

# inside COMMAND... runs a program of the image. The tests connect to servers of their own.
inside() {
	"$engine" run --rm --network none --read-only --tmpfs /tmp --volume "$engine_root:/checkout:ro" --workdir /checkout --entrypoint '' "$image" "$@"
}

inside sh -euc '
	version=$(python3 --version)
	for folder; do
		cd "/checkout/$folder"
		python3 -B -m unittest --quiet $(ls | sed -n "s/^\(test_.*\)\.py$/\1/p") || { echo "$folder fails with $version" >&2; exit 1; }
	done
	echo "$version, tests in $# folders passed"' "$(basename "$archive" .tar)" "$@" | sed "s|^|$(basename "$archive" .tar): |"
