# A cluster in Docker, created by kind. Sourced after target.sh.
# shellcheck shell=bash
: "${root:?}" "${CLUSTER_NAME:?}" "${KIND_HOST_PORT:?}"

# The modules of this machine's kernel with which Chaos Mesh breaks the network.
chaos_modules=(sch_netem ip_set xt_set)

preflight_kind() {
	local module
	require docker kind kubectl jq
	docker_works || refuse 'the Docker engine does not answer: start it, or choose another target with INFRA_TARGET'
	[[ $WITH_CHAOS_MESH == false ]] || for module in "${chaos_modules[@]}"; do
		[[ -d /sys/module/$module ]] || modprobe "$module" 2>/dev/null ||
			refuse "WITH_CHAOS_MESH needs the kernel module $module: as root, modprobe $module"
	done
}

kind_exists() { kind get clusters 2>/dev/null | grep -qxF "$CLUSTER_NAME"; }

create_kind() {
	if kind_exists; then
		echo "the cluster already exists"
	else
		sed "s/hostPort: .*/hostPort: $KIND_HOST_PORT/" "$root/hack/kind-config.yaml" |
			kind create cluster --name "$CLUSTER_NAME" --config - --wait 120s
	fi
	use_kubeconfig kind get kubeconfig --name "$CLUSTER_NAME"
	[[ -z $NODE_NOFILE_LIMIT ]] || limit_open_files
}

# limit_open_files prevents uWSGI, which allocates memory for each file that it might open,
# from being killed.
limit_open_files() {
	local node folder=/etc/systemd/system/containerd.service.d
	for node in $(kind get nodes --name "$CLUSTER_NAME"); do
		docker exec "$node" sh -c "
			grep -qxs LimitNOFILE=$NODE_NOFILE_LIMIT $folder/nofile.conf && exit
			mkdir -p $folder
			printf '[Service]\nLimitNOFILE=%s\n' $NODE_NOFILE_LIMIT >$folder/nofile.conf
			systemctl daemon-reload && systemctl restart containerd"
	done
}

delete_kind() {
	require kind
	kind delete cluster --name "$CLUSTER_NAME"
}
