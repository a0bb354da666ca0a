#!/usr/bin/env bash
# Runs make targets, some of them at the same time, and prints the output of each as soon as it is
# over, then the durations of all.
#
# Usage: stages.sh CONCURRENT TARGET...
# After a failure it starts no further target, waits for those that run, and ends with the exit code
# of the first that failed. The targets must not build the same file.
set -uo pipefail

concurrent=$1
shift
total=$SECONDS
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
declare -A running=() started=()
summary=()
failure=0

start() {
	"${MAKE:-make}" --no-print-directory "$1" >"$logs/$1" 2>&1 </dev/null &
	running[$!]=$1 started[$!]=$SECONDS
}

# await_one waits for the next target to end.
await_one() {
	local pid status=0 target
	wait -n -p pid "${!running[@]}" || status=$?
	target=${running[$pid]}
	printf '\n=== %s\n' "$target"
	cat "$logs/$target"
	summary+=("$(printf '%6d s  %s%s' $((SECONDS - started[$pid])) "$target" "$( ((status == 0)) || echo '  FAILED')")")
	((failure != 0)) || failure=$status
	unset "running[$pid]"
}

for target in "$@"; do
	((${#running[@]} < concurrent)) || await_one
	((failure == 0)) || break
	start "$target"
done
while ((${#running[@]} > 0)); do await_one; done
printf '\n'
printf '%s\n' "${summary[@]}"
printf '%6d s  in total\n' $((SECONDS - total))
exit "$failure"
