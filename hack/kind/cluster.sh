#!/usr/bin/env bash
# The cluster of this checkout: kind with Docker or podman.
#
# Usage: cluster.sh check|up|load ARCHIVE...|status|down
#   check    says what keeps this machine from running it; changes nothing
#   up       brings it up, or repairs it; does nothing if it works
#   load     imports archives of images into all nodes, except those that are there
#   status   describes it; fails unless it works
#   down     removes it and everything that it made
# Environment: CLUSTER_NAME (forge), NODES (1), KIND_HOST_PORT (443), NODE_NOFILE_LIMIT (1048576; empty: as it is),
# CONTAINER_ENGINE (docker or podman; what is there).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=../container/engine.sh
source "$root/hack/container/engine.sh"
: "${CLUSTER_NAME:=forge}" "${NODES:=1}" "${KIND_HOST_PORT:=443}" "${NODE_NOFILE_LIMIT=1048576}"
bin=$root/.cache/bin
state=$root/.cache/kind
kubeconfig=$root/kubeconfig
control_plane=$CLUSTER_NAME-control-plane
# shellcheck source=check.sh
source "$here/check.sh"
# shellcheck source=load.sh
source "$here/load.sh"

kind() { "$bin/kind" --quiet "$@"; }
# The API server is on this machine, so it is reached without a proxy.
kubectl() { NO_PROXY='*' no_proxy='*' "$bin/kubectl" --kubeconfig="$kubeconfig" "$@"; }

# nodes prints the containers of the cluster, running or not.
nodes() { "$engine" ps --all --filter "label=io.x-k8s.kind.cluster=$CLUSTER_NAME" --format '{{.Names}}'; }

# owner prints the checkout that has made the cluster: it has mounted its file.
owner() {
	{ "$engine" inspect --format '{{range .Mounts}}{{.Source}}{{"\n"}}{{end}}' "$control_plane" 2>/dev/null || true; } |
		sed -n 's|/\.cache/kind/audit-policy\.yaml$||p'
}

# complete succeeds if the creation of the cluster that there is has come to its end.
complete() { [[ $(cat "$state/created" 2>/dev/null) == "$("$engine" inspect --format '{{.Id}}' "$control_plane" 2>/dev/null)" ]]; }

# refuse_foreign keeps a cluster of that name that another checkout has made.
refuse_foreign() {
	local there
	there=$(owner)
	[[ -z $there || $there == "$root" ]] || refuse_engine "the cluster \"$CLUSTER_NAME\" belongs to $there: remove it there," \
		'or set CLUSTER_NAME and KIND_HOST_PORT to others'
}

# is_users succeeds if there is a cluster of that name which no checkout has made.
is_users() { [[ -n $(nodes) && -z $(owner) ]]; }

write_audit_policy() {
	mapfile -t names < <("$root/hack/tools/operators.sh")
	printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\n# What the operators ask for is compared with what they may.\nrules:\n- level: Metadata\n  omitStages: [RequestReceived]\n  userGroups:\n'
	printf '  - system:serviceaccounts:%s-system\n' "${names[@]}"
	printf -- '- level: None\n'
}

write_config() {
	local worker
	sed "s|AUDIT_POLICY|$state/audit-policy.yaml|; s|KIND_HOST_PORT|$KIND_HOST_PORT|; /^#/d" "$root/hack/kind-config.yaml"
	for ((worker = 1; worker < NODES; worker++)); do echo '  - role: worker'; done
}

create() {
	mkdir -p "$state"
	write_audit_policy >"$state/audit-policy.yaml"
	write_config >"$state/config.yaml"
	if ! kind create cluster --name "$CLUSTER_NAME" --config "$state/config.yaml" --image "$(<"$state/image")" \
		--kubeconfig "$state/kubeconfig" --retain >"$state/create.log" 2>&1; then
		cat "$state/create.log" >&2
		return 1
	fi
	limit_open_files
	"$engine" inspect --format '{{.Id}}' "$control_plane" >"$state/created"
}

# limit_open_files prevents uWSGI, which allocates memory for each file that it might open,
# from being killed. A limit cannot be raised above that of this machine.
limit_open_files() {
	local node folder=/etc/systemd/system/containerd.service.d hard
	hard=$("$engine" exec "$control_plane" sh -c 'ulimit -Hn')
	[[ -n $NODE_NOFILE_LIMIT ]] && [[ $hard == unlimited || $hard -gt $NODE_NOFILE_LIMIT ]] || return 0
	for node in $(nodes); do
		"$engine" exec "$node" sh -c "mkdir -p $folder && printf '[Service]\nLimitNOFILE=%s\n' $NODE_NOFILE_LIMIT >$folder/nofile.conf &&
			systemctl daemon-reload && systemctl restart containerd"
	done
}

# start_stopped starts nodes that have stopped, as after a restart of this machine.
start_stopped() {
	local node
	for node in $(nodes); do
		[[ $("$engine" inspect --format '{{.State.Running}}' "$node") == true ]] || "$engine" start "$node" >/dev/null
	done
}

# tune gives the programs of the network and DNS their share of a busy node. Without one, names are resolved
# after seconds or not at all, and Services lead to pods that have ended.
tune() {
	# A small machine has no node to spare.
	kubectl taint nodes --selector=node-role.kubernetes.io/control-plane node-role.kubernetes.io/control-plane- 2>/dev/null || true
	kubectl --namespace=kube-system patch daemonset kube-proxy --type=strategic \
		--patch '{"spec": {"template": {"spec": {"containers": [{"name": "kube-proxy", "resources": {"requests": {"cpu": "100m"}}}]}}}}'
	# A pod asks that of its own node, so a node that fails takes names from nobody else.
	kubectl --namespace=kube-system patch deployment coredns --type=strategic --patch '{"spec": {"replicas": '"$NODES"',
		"template": {"spec": {"containers": [{"name": "coredns", "resources": {"requests": {"cpu": "250m"}}}],
		"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
		"labelSelector": {"matchLabels": {"k8s-app": "kube-dns"}}, "matchLabelKeys": ["pod-template-hash"]}]}}}}'
	kubectl --namespace=kube-system patch service kube-dns --patch '{"spec": {"trafficDistribution": "PreferSameNode"}}'
}

# await SECONDS returns when the API server answers, all nodes are ready, DNS is there and volumes can be made.
await() {
	local until=$((SECONDS + $1))
	until kubectl get --raw /readyz >/dev/null 2>&1; do
		((SECONDS < until)) || return 1
		sleep 0.3
	done
	kubectl wait --for=condition=Ready --timeout="$((until - SECONDS))s" nodes --all >/dev/null &&
		kubectl --namespace=kube-system rollout status deployment/coredns --timeout="$1s" >/dev/null &&
		kubectl --namespace=local-path-storage rollout status deployment/local-path-provisioner --timeout="$1s" >/dev/null
}

write_kubeconfig() {
	[[ ! -e $kubeconfig ]] || is_ours || refuse_engine "$kubeconfig is of another cluster: move it away"
	(umask 077 && kind get kubeconfig --name "$CLUSTER_NAME" >"$kubeconfig.new" && mv "$kubeconfig.new" "$kubeconfig")
}

# is_ours succeeds if the kubeconfig of the checkout is one of this cluster.
is_ours() { grep -qxF "current-context: kind-$CLUSTER_NAME" "$kubeconfig"; }

up() {
	refuse_foreign
	if is_users; then
		write_kubeconfig
		say
		return
	fi
	if [[ -n $(nodes) ]] && complete; then
		start_stopped
		if write_kubeconfig && await 120; then
			say
			return
		fi
		echo "the cluster \"$CLUSTER_NAME\" does not work: it is made anew"
	fi
	down
	check_free
	create
	write_kubeconfig
	tune >/dev/null
	await 180 || refuse_engine "the cluster does not become ready: $bin/kubectl --kubeconfig=$kubeconfig get pods --all-namespaces"
	say
}

say() {
	local count
	count=$(nodes | wc -l)
	echo "the cluster \"$CLUSTER_NAME\" ($count $([[ $count == 1 ]] && echo node || echo nodes), $engine) works: export KUBECONFIG=$kubeconfig"
}

status() {
	refuse_foreign
	[[ -n $(nodes) ]] || refuse_engine 'no cluster of this checkout is running: start one with "make quickstart"'
	kubectl get nodes --output=wide && kubectl get pods --all-namespaces --field-selector=status.phase!=Running,status.phase!=Succeeded
	await 5 || refuse_engine 'the cluster does not work: "make cluster-up" repairs it'
	say
}

# down removes the cluster, and the network of kind unless other clusters of kind use it.
down() {
	! is_users || refuse_engine "no checkout has made the cluster \"$CLUSTER_NAME\": to remove it, kind delete cluster --name $CLUSTER_NAME"
	[[ -z $(nodes) ]] || kind delete cluster --name "$CLUSTER_NAME" --kubeconfig "$state/kubeconfig"
	[[ -n $("$engine" ps --all --quiet --filter label=io.x-k8s.kind.cluster) ]] || "$engine" network rm kind >/dev/null 2>&1 || true
	[[ ! -e $kubeconfig ]] || ! is_ours || rm -f "$kubeconfig"
	rm -f "$state"/{created,kubeconfig,config.yaml}
}

command=${1:-}
shift || true
find_engine
case $command in
check) check_machine ;;
up) up ;;
load) load "$@" ;;
status) status ;;
down)
	refuse_foreign
	down
	;;
*) refuse_engine "usage: $0 check|up|load ARCHIVE...|status|down" ;;
esac
