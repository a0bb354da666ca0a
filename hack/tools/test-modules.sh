#!/usr/bin/env bash
# Runs the tests of Go modules and keeps their binaries.
#
# Usage: test-modules.sh FOLDER 'MODULE...' COMMAND...
# COMMAND is "go test" with its flags. The binaries are kept in FOLDER, so that the next
# run only links those that have changed: linking takes the linker two seconds for each
# package that knows Kubernetes, and Go's own cache does not hold its results.
# Go names a binary after the last element of the package's path, which is unique among the
# packages of a module only, hence a folder and a process for each module.
set -euo pipefail

folder=$1 modules=$2
shift 2

test_module() {
	local folder=$1 module=$2 packages
	shift 2
	mapfile -t packages < <(find "$module" -name '*_test.go' -printf './%h\n' | sort -u)
	((${#packages[@]} == 0)) || "$@" -o "$folder/$module/" "${packages[@]}"
}
export -f test_module

# With as many packages of each as there are cores, three modules keep the cores busy: tests
# against an API server are partly idle, and some modules have one long package.
# shellcheck disable=SC2086 # one module per line
printf '%s\n' $modules | xargs -P 3 -I '{}' bash -euc 'test_module "$@"' - "$folder" '{}' "$@"
