# What the quick start's scripts share: where things are, the tools, and how
# progress is told. Sourced, with "set -euo pipefail" in force.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=$root/.cache
# The quick start's own cluster, whatever KUBECONFIG says in the caller's shell.
export KUBECONFIG=$root/kubeconfig
# What the tools remember belongs into the checkout's cache.
export KUBECACHEDIR=$cache/kubectl
export HELM_CACHE_HOME=$cache/helm/cache HELM_CONFIG_HOME=$cache/helm/config HELM_DATA_HOME=$cache/helm/data

# The API server is on this machine, whatever proxy others are reached by.
kubectl() { NO_PROXY='*' no_proxy='*' "$cache/bin/kubectl" "$@"; }
helm() { NO_PROXY='*' no_proxy='*' "$cache/bin/helm" "$@"; }

# milliseconds since the epoch, without a process of their own.
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

# run_stage NAME COMMAND... runs the command and records how long it took. The
# command runs in this shell and under errexit; what ends the script while a
# stage is open ends it as that stage's failure.
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
	printf '%8s s  in all\n' "$(seconds "$started")"
}

# retry LIMIT COMMAND... repeats a command until it succeeds, for at most LIMIT
# seconds. Only the last attempt's complaints are shown.
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
