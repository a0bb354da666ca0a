# How scripts report progress, and how they wait. Sourced, with
# "set -euo pipefail" in force.
# shellcheck shell=bash

# milliseconds since the epoch, without starting a process.
milliseconds() {
	local now=${EPOCHREALTIME/[.,]/}
	echo "${now%???}"
}

# seconds FROM [TO] prints the time between as "12.3".
seconds() {
	local tenths=$(((${2:-$(milliseconds)} - $1 + 50) / 100))
	echo "$((tenths / 10)).$((tenths % 10))"
}

started=$(milliseconds)
stage=
stage_began=
stages=()

# run_stage NAME COMMAND... runs the command and records its duration. The
# command runs in this shell and under errexit; if the script exits while a
# stage is running, that counts as the stage's failure.
run_stage() {
	stage=$1 stage_began=$(milliseconds)
	shift
	printf '\n=== %s\n' "$stage"
	"$@"
	local took
	took=$(seconds "$stage_began")
	printf -- '--- %s: %s s\n' "$stage" "$took"
	stages+=("$(printf '%8s s  %s' "$took" "$stage")")
	stage=
}

print_times() {
	printf '\n'
	((${#stages[@]} == 0)) || printf '%s\n' "${stages[@]}"
	[[ -z $stage ]] || printf '%8s s  %s  FAILED\n' "$(seconds "$stage_began")" "$stage"
	printf '%8s s  in total\n' "$(seconds "$started")"
}

# retry LIMIT COMMAND... repeats a command until it succeeds, for at most LIMIT
# seconds. Only the last attempt's errors are shown.
retry() {
	local until=$((SECONDS + $1)) output
	shift
	while ! output=$("$@" 2>&1); do
		if ((SECONDS >= until)); then
			printf '%s\n' "$output" >&2
			return 1
		fi
		sleep 0.5
	done
	[[ -z $output ]] || printf '%s\n' "$output"
}
