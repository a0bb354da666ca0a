#!/usr/bin/env bash
# What suites for several nodes wait for on a node.
#
# Usage: node.sh lost|back NODE
#   lost   until the cluster notices that the node does not answer
#   back   starts and mends the node, whatever has happened to it, until it answers, and lets it take pods
set -euo pipefail
action=$1 node=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)

# ready prints the status of its condition Ready; nothing while the API server does not answer.
ready() { kubectl get node "$node" --output=jsonpath='{.status.conditions[?(@.type=="Ready")].status}' 2>/dev/null || true; }

# renewed prints when its kubelet has last said that it is alive.
renewed() { kubectl --namespace kube-node-lease get lease "$node" --output=jsonpath='{.spec.renewTime}' 2>/dev/null || true; }

# back waits for a sign of life, since a node counts as ready for a while after its end.
back() {
	local now
	"$root/hack/kind/fault.sh" heal "$node"
	now=$(date --utc +%FT%T.%6NZ)
	until [[ $(renewed) > $now && $(ready) == True ]]; do sleep 1; done
	kubectl uncordon "$node"
}

case $action in
lost) until [[ $(ready) == [FU]* ]]; do sleep 1; done ;;
back) back ;;
esac
