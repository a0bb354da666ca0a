#!/usr/bin/env bash
# Runs end-to-end suites against a running cluster, several at once, and sums up
# what each took.
#
# Usage: run.sh [SUITE...] [-- CHAINSAW-ARGUMENT...]
#   SUITE   a folder below tests/e2e/keystone, or "c5c3" or one below it, such as
#           "c5c3/minimal". Without one, all suites of the operators that run in
#           the cluster
# Environment: BIN (the tools), KUBECONFIG, REPORTS (a folder for the JUnit
# report), PARALLEL, LOADGEN (the archive of the load generator's image).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
export PATH=$BIN:$PATH NO_PROXY='*' no_proxy='*'

# folder_of SUITE prints where it is.
folder_of() {
	local folder=tests/e2e/keystone/$1
	[[ $1 != c5c3 && $1 != c5c3/* ]] || folder=tests/e2e/$1
	if [[ ! -d $folder ]]; then
		echo "there is no suite \"$1\" below tests/e2e/keystone, nor is it \"c5c3/...\" below tests/e2e" >&2
		return 2
	fi
	echo "$folder"
}

folders=()
while (($# > 0)) && [[ $1 != -- ]]; do
	folder=$(folder_of "$1")
	folders+=("$folder")
	shift
done
(($# == 0)) || shift
if [[ ! -e $KUBECONFIG ]]; then
	echo 'no cluster of this checkout is running: start one with "make quickstart"' >&2
	exit 1
fi
if ((${#folders[@]} == 0)); then
	folders=(tests/e2e/keystone)
	if kubectl get crd controlplanes.c5c3.io --output=name >/dev/null 2>&1; then
		folders+=(tests/e2e/c5c3)
	else
		echo 'leaving out c5c3, which needs "make deploy-infra WITH_CONTROLPLANE=true"'
	fi
fi

mkdir -p "$REPORTS"
# Two runs at once must not write to one report.
run=$(mktemp -d "$REPORTS/run.XXXXXX")
trap 'rm -rf "$run"' EXIT

# summarize prints one line a suite, the slowest last, from the report's
# <testsuite> elements.
summarize() {
	sed -n 's/^ *<testsuite name="\([^"]*\)" tests="[0-9]*" failures="\([0-9]*\)".* time="\([0-9.]*\)".*/\3 \2 \1/p' "$1" |
		sort -n | awk -v wall="$SECONDS" '
			{ printf "%8.1f s  %s%s\n", $1, $3, ($2 > 0 ? "  FAILED" : ""); sum += $1; failed += ($2 > 0) }
			END { printf "%8.1f s  %d suites one after the other, %d failed; %d s as they ran\n", sum, NR, failed, wall }'
}

forge-cluster -checkout "$root" load "$LOADGEN" >/dev/null
status=0
chainsaw test --config tests/e2e/chainsaw.yaml --parallel "$PARALLEL" --report-path "$run" --no-color --quiet \
	--set-string root="$root" "$@" "${folders[@]}" || status=$?
if [[ -e $run/e2e.xml ]]; then
	mv "$run/e2e.xml" "$REPORTS/e2e.xml"
	printf '\n=== Suites\n'
	summarize "$REPORTS/e2e.xml"
fi
exit "$status"
