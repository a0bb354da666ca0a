#!/usr/bin/env bash
# What can happen to a node, for end-to-end suites.
#
# Usage: fault.sh kill|start|restart|cut|mend|heal NODE
#   kill      ends it at once, as a loss of power does
#   start     starts it again
#   restart   restarts it in order
#   cut       lets no packet in or out of it, while everything on it goes on
#   mend      lets them through again
#   heal      starts and mends it as far as that is needed
# Environment: CLUSTER_NAME (forge), CONTAINER_ENGINE.
set -euo pipefail
# shellcheck source=../container/engine.sh
source "$(dirname "${BASH_SOURCE[0]}")/../container/engine.sh"
: "${CLUSTER_NAME:=forge}"
usage="usage: $0 kill|start|restart|cut|mend|heal NODE"
action=${1:?$usage} node=${2:?$usage}
find_engine
[[ $("$engine" inspect --format '{{index .Config.Labels "io.x-k8s.kind.cluster"}}' "$node" 2>/dev/null) == "$CLUSTER_NAME" ]] ||
	refuse_engine "the cluster \"$CLUSTER_NAME\" has no node $node"

# addresses prints the address of the node, and its IPv6 address.
addresses() { "$engine" inspect --format '{{with index .NetworkSettings.Networks "kind"}}{{.IPAddress}} {{.GlobalIPv6Address}}{{end}}' "$node"; }

# keep ADDRESS IPV6-ADDRESS has podman start the node with these, as a machine keeps its own. Routes of the other
# nodes lead there. Docker gives fixed ones only in a network of its user.
keep() {
	[[ $engine == podman && -n $1 ]] || return 0
	# Otherwise podman may still be about to give the addresses back, and then never does.
	podman container cleanup "$node"
	podman network disconnect kind "$node"
	podman network connect --ip "$1" ${2:+--ip6 "$2"} kind "$node"
}

# end WITH... ends the node with a command of the engine.
end() {
	local found
	read -ra found <<<"$(addresses)"
	"$engine" "$@" "$node"
	"$engine" wait "$node"
	keep "${found[@]}"
}

# cut --insert|--delete changes the rules that drop what comes to the node and what leaves it, of its pods too.
cut() {
	# shellcheck disable=SC2016 # The node expands them.
	"$engine" exec "$node" sh -euc '
		for program in iptables ip6tables; do
			"$program" --wait --table raw "$1" PREROUTING --in-interface eth0 --jump DROP
			"$program" --wait --table mangle "$1" POSTROUTING --out-interface eth0 --jump DROP
		done' - "$1"
}

case $action in
kill) end kill ;;
start) "$engine" start "$node" ;;
restart)
	# systemd ends the pods and then itself.
	end stop --time 120
	"$engine" start "$node"
	;;
cut) cut --insert ;;
mend) cut --delete ;;
heal)
	if [[ $("$engine" inspect --format '{{.State.Running}}' "$node") != true ]]; then
		"$engine" start "$node"
	else
		# There is no rule unless it was cut.
		cut --delete 2>/dev/null || true
	fi
	;;
*) refuse_engine "$usage" ;;
esac >/dev/null
