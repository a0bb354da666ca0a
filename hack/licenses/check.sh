#!/usr/bin/env bash
# Fails if a program contains a module whose license is not allowed, or unknown.
#
# Usage: check.sh GO-LICENSES MODULE-FOLDER...
# The allowed ones, with the reasons, are in allowed.txt next to this script.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
tool=$(cd "$(dirname "$1")" && pwd)/${1##*/}
shift
allowed=$(sed '/^#/d; /^$/d' "$root/hack/licenses/allowed.txt" | paste -sd,)

# The tool recognises the standard library by the location of the Go installation, and
# without it treats everything as standard.
GOROOT=$(go env GOROOT)
export GOROOT GOWORK=off
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for folder in "$@"; do
	status=0
	(cd "$root/$folder" && "$tool" check . --ignore github.com/c5c3/forge --allowed_licenses="$allowed") >"$work/log" 2>&1 || status=$?
	if ((status != 0)); then
		grep -v 'non-Go code' "$work/log" >&2
		echo "$folder contains a license that hack/licenses/allowed.txt does not allow: use another module, or get its license approved" >&2
		exit 1
	fi
	# A tool that sees no modules reports no problems either.
	modules=$(cd "$root/$folder" && "$tool" report . --ignore github.com/c5c3/forge 2>/dev/null | wc -l)
	if ((modules < 20)); then
		echo "$folder: only $modules libraries were checked: the tool does not find the others" >&2
		exit 1
	fi
	echo "$folder: $modules libraries, all under allowed licenses"
done
