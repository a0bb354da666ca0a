#!/usr/bin/env bash
# What can happen to a node, for end-to-end suites.
#
# Usage: fault.sh kill|start|restart|cut|mend NODE
#   kill      ends it at once, as a loss of power does
#   start     starts it again
#   restart   restarts it in order
#   cut       lets no packet in or out of it, while everything on it goes on
#   mend      lets them through again
# Environment: CLUSTER_NAME (forge), CONTAINER_ENGINE.
set -euo pipefail
# shellcheck source=../container/engine.sh
source "$(dirname "${BASH_SOURCE[0]}")/../container/engine.sh"
: "${CLUSTER_NAME:=forge}"
usage="usage: $0 kill|start|restart|cut|mend NODE"
action=${1:?$usage} node=${2:?$usage}
find_engine
[[ $("$engine" inspect --format '{{index .Config.Labels "io.x-k8s.kind.cluster"}}' "$node" 2>/dev/null) == "$CLUSTER_NAME" ]] ||
	refuse_engine "the cluster \"$CLUSTER_NAME\" has no node $node"

case $action in
kill) "$engine" kill "$node" ;;
start) "$engine" start "$node" ;;
restart) "$engine" restart "$node" ;;
cut)
	"$engine" exec --interactive "$node" nft --file - <<-'END'
		table inet cut {
			chain in { type filter hook prerouting priority -500; iifname "eth0" drop; }
			chain out { type filter hook postrouting priority 500; oifname "eth0" drop; }
		}
	END
	;;
mend) "$engine" exec "$node" nft delete table inet cut ;;
*) refuse_engine "$usage" ;;
esac >/dev/null
