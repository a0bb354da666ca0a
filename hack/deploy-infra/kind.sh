# A cluster of kind, which "make cluster-up" brings up. Sourced after target.sh.
# shellcheck shell=bash disable=SC2034
: "${root:?}" "${cache:=$root/.cache}"

# The first file that Flux's way fetches.
flux_source=https://github.com/controlplaneio-fluxcd/flux-operator/releases/latest

# The modules of this machine's kernel with which Chaos Mesh breaks the network.
chaos_modules=(sch_netem ip_set xt_set)

# choose_way sets way and why_way: Flux fetches charts and images, or charts, manifests and programs come from Go
# modules and the images are built here. What has been deployed in one way stays in it.
choose_way() {
	if [[ -n $INFRA_FROM ]]; then
		way=$INFRA_FROM why_way='INFRA_FROM says so'
	elif [[ -n $INFRA ]]; then
		way=modules why_way='INFRA names parts'
	elif has_parts_of_modules; then
		way=modules why_way='the cluster has parts of it'
	elif have curl && curl --silent --fail --head --location --max-time 10 --output /dev/null "$flux_source"; then
		way=flux why_way='charts can be fetched'
	else
		way=modules why_way='no charts can be fetched'
	fi
}

has_parts_of_modules() {
	local kinds
	[[ -e $root/kubeconfig && -x $cache/bin/kubectl ]] || return 1
	kinds=$("$cache/bin/kubectl" --kubeconfig="$root/kubeconfig" --request-timeout=10s get crd -o name 2>/dev/null) || return 1
	[[ $kinds == *externalsecrets.external-secrets.io* && $kinds != *helmreleases.helm.toolkit.fluxcd.io* ]]
}

preflight_kind() {
	local module
	require kubectl jq
	[[ $WITH_CHAOS_MESH == false ]] || for module in "${chaos_modules[@]}"; do
		[[ -d /sys/module/$module ]] || modprobe "$module" 2>/dev/null ||
			refuse "WITH_CHAOS_MESH needs the kernel module $module: as root, modprobe $module"
	done
}

# make_target TARGET makes what is missing. A make that called this script may
# have options and a job server that are not meant for the one called here.
make_target() {
	[[ -n $INFRA ]] || unset INFRA
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory -C "$root" "$1"
}

deploy_kind() {
	if [[ $way == modules ]]; then
		make_target infra-modules
		return
	fi
	preflight_kind
	source_flux
	run_stage "Bringing the kind cluster $CLUSTER_NAME up" make_target cluster-up
	use_kubeconfig cat "$root/kubeconfig"
	deploy_flux
}
