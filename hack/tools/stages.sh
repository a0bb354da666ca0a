#!/usr/bin/env bash
# Runs make targets one after another and prints the duration of each.
#
# Usage: stages.sh TARGET...
# Stops at the first that fails, with its exit code.
set -uo pipefail

total=$SECONDS
summary=()
for target in "$@"; do
	start=$SECONDS
	printf '\n=== %s\n' "$target"
	status=0
	"${MAKE:-make}" --no-print-directory "$target" || status=$?
	summary+=("$(printf '%6d s  %s%s' $((SECONDS - start)) "$target" "$( ((status == 0)) || echo '  FAILED')")")
	((status == 0)) || break
done
printf '\n'
printf '%s\n' "${summary[@]}"
printf '%6d s  in total\n' $((SECONDS - total))
exit "$status"
