#!/usr/bin/env bash
# Runs the tests of Go modules, several modules at the same time.
#
# Usage: test-modules.sh 'MODULE...' COMMAND...
# COMMAND is "go test" with its flags. The test binaries are not kept: Go would have to link
# those, too, whose results it has cached.
set -euo pipefail

modules=$1
shift

test_module() {
	local module=$1 packages
	shift
	mapfile -t packages < <(find "$module" -name '*_test.go' -printf './%h\n' | sort -u)
	((${#packages[@]} == 0)) || "$@" "${packages[@]}"
}
export -f test_module

# With as many packages of each as there are cores, three modules keep the cores busy: tests
# against an API server are partly idle, and some modules have one long package.
# shellcheck disable=SC2086 # one module per line
printf '%s\n' $modules | xargs -P 3 -I '{}' bash -euc 'test_module "$@"' - '{}' "$@"
