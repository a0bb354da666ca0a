#!/usr/bin/env bash
# Shows the conditions of a resource while they change, until it is ready: on a
# terminal as a table that stays in place, elsewhere as one line a change.
#
# Usage: follow.sh NAMESPACE KIND/NAME LIMIT
# Ends with 1 when it is not ready within LIMIT seconds.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

namespace=$1 resource=$2 limit=$3

# One record for each version of the resource. A quoted message stays on its
# line whatever it holds.
template='{{with .status}}{{range .conditions}}{{.type}} {{.status}} {{.reason}} {{printf "%q" .message}}
{{end}}{{end}}end {{.metadata.generation}} {{with .status}}{{.observedGeneration}}{{end}}
'

types=()
declare -A status=() reason=() message=() printed=()
generation='' observed=''
# A line of which only a part has arrived.
unfinished=''
table_lines=0

# read_record takes lines from the watch until a record is complete. It returns
# 1 when the watch has ended and 2 when a second has passed without news.
read_record() {
	local chunk type rest code
	while code=0; IFS= read -r -t 1 -u "$watch" chunk || code=$?; unfinished+=$chunk; ((code == 0)); do
		read -r type rest <<<"$unfinished"
		unfinished=
		if [[ $type == end ]]; then
			read -r generation observed <<<"$rest" || true
			return 0
		fi
		remember "$type" "$rest"
	done
	((code > 128)) && return 2
	return 1
}

remember() {
	local type=$1 text
	[[ -v status[$type] ]] || types+=("$type")
	read -r "status[$type]" "reason[$type]" text <<<"$2"
	text=${text#\"} text=${text%\"}
	text=${text//\\n/ }
	message[$type]=${text//\\\"/\"}
}

is_ready() { [[ ${status[Ready]:-} == True && $observed == "$generation" ]]; }

# line TYPE describes a condition. The sum of all others is not repeated in
# words.
line() {
	local text="${reason[$1]}"
	case $1 in
	Ready | Reconciling | Stalled) ;;
	*) [[ ${status[$1]} == True ]] || text+=": ${message[$1]}" ;;
	esac
	printf '%-22s %-6s %s' "$1" "${status[$1]}" "$text"
}

show_changes() {
	local type text
	for type in "${types[@]}"; do
		text=$(line "$type")
		if [[ ${printed[$type]:-} != "$text" ]]; then
			printf '[%6s s] %s\n' "$(seconds "$started")" "$text"
			printed[$type]=$text
		fi
	done
}

show_table() {
	local type text width=${COLUMNS:-$(tput cols 2>/dev/null || echo 100)}
	((table_lines == 0)) || printf '\033[%dA' "$table_lines"
	printf '\033[K%s\n' "$resource in $namespace after $(seconds "$started") s"
	for type in "${types[@]}"; do
		text=$(line "$type")
		printf '\033[K  %s\n' "${text:0:width-3}"
	done
	table_lines=$((${#types[@]} + 1))
}

show() {
	if [[ -t 1 ]]; then
		show_table
	else
		show_changes
	fi
}

start_watch() {
	# exec, so that the process to end is kubectl itself and not a shell around it.
	exec {watch}< <(NO_PROXY='*' no_proxy='*' exec "$cache/bin/kubectl" -n "$namespace" get "$resource" \
		--watch -o go-template="$template" 2>/dev/null)
	watcher=$!
}

stop_watch() {
	kill "$watcher" 2>/dev/null || true
	exec {watch}<&-
}

trap stop_watch EXIT
trap 'exit 130' INT TERM
start_watch
until=$((SECONDS + limit))
while ! is_ready; do
	if ((SECONDS >= until)); then
		echo "$resource in $namespace is not ready after $limit s: the conditions that are False say what to do" >&2
		exit 1
	fi
	code=0
	read_record || code=$?
	case $code in
	0) show ;;
	# The API server ends watches now and then.
	1)
		stop_watch
		sleep 1
		start_watch
		;;
	*) [[ ! -t 1 ]] || show ;;
	esac
done
