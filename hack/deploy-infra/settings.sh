# The variables of deploy-infra: their defaults, allowed values, and where
# they have an effect. A variable without effect is refused by name. Sourced, with
# "set -euo pipefail" in force.
#
# NAMESPACE is not among them: Chainsaw sets it for everything that it runs.
# shellcheck shell=bash disable=SC2034

# How it is deployed, and why; target.sh chooses.
way='' why_way=''

declare -A defaults=(
	[CLUSTER_NAME]=forge
	[HELMRELEASE_TIMEOUT]=600 [POD_TIMEOUT]=300 [EXTERNALSECRET_TIMEOUT]=120
	[KIND_HOST_PORT]=443 [NODE_NOFILE_LIMIT]=1048576 [SKIP_KIND_CREATE]=false
	[WITH_CHAOS_MESH]=false [WITH_PROMETHEUS]=false [WITH_CONTROLPLANE]=false [WITH_CONTROLPLANE_CR]=false
	[CONTROLPLANE_NAME]=controlplane [CONTROLPLANE_OPERATORS]=flux
	[CONTROLPLANE_DB_REPLICAS]=1 [CONTROLPLANE_CACHE_REPLICAS]=1 [CONTROLPLANE_DB_STORAGE]=512Mi
	[GATEWAY_API_VERSION]=v1.1.0
	[OPENBAO_NAMESPACE]=openbao-system
	[BAO_ADDR]=https://127.0.0.1:8200 [VAULT_CACERT]=/openbao/tls/ca.crt
	[VAULT_CLIENT_CERT]=/openbao/client-tls/tls.crt [VAULT_CLIENT_KEY]=/openbao/client-tls/tls.key
	[KORC_CONTROLPLANES]=
	[DB_CREDS_DEFAULT_TTL]=48h [DB_CREDS_MAX_TTL]=72h
	[STORE_CLUSTER]=
	[INFRA_TARGET]= [INFRA_FROM]= [INFRA]=
)

# The pattern that a value has to match; without an entry anything is allowed.
declare -A shapes=(
	[CLUSTER_NAME]='[a-z0-9][a-z0-9.-]*'
	[HELMRELEASE_TIMEOUT]='[1-9][0-9]*' [POD_TIMEOUT]='[1-9][0-9]*' [EXTERNALSECRET_TIMEOUT]='[1-9][0-9]*'
	[KIND_HOST_PORT]='[1-9][0-9]{0,4}' [NODE_NOFILE_LIMIT]='|[1-9][0-9]*' [SKIP_KIND_CREATE]='true|false'
	[WITH_CHAOS_MESH]='true|false' [WITH_PROMETHEUS]='true|false'
	[WITH_CONTROLPLANE]='true|false' [WITH_CONTROLPLANE_CR]='true|false'
	[CONTROLPLANE_NAME]='[a-z0-9]([a-z0-9-]*[a-z0-9])?' [CONTROLPLANE_OPERATORS]='flux|external'
	[CONTROLPLANE_DB_REPLICAS]='[1-9][0-9]*' [CONTROLPLANE_CACHE_REPLICAS]='[1-9][0-9]*'
	[CONTROLPLANE_DB_STORAGE]='[1-9][0-9]*(Mi|Gi|Ti)'
	[GATEWAY_API_VERSION]='v[0-9]+\.[0-9]+\.[0-9]+(-[a-z0-9.]+)?'
	[OPENBAO_NAMESPACE]='openbao-system'
	[KORC_CONTROLPLANES]='|[a-z0-9-]+/[a-z0-9.-]+( +[a-z0-9-]+/[a-z0-9.-]+)*'
	[DB_CREDS_DEFAULT_TTL]='[1-9][0-9]*[smh]' [DB_CREDS_MAX_TTL]='[1-9][0-9]*[smh]'
	[STORE_CLUSTER]='|[a-z0-9]([a-z0-9-]*[a-z0-9])?'
	[INFRA_TARGET]='|kind|current' [INFRA_FROM]='|flux|modules'
)

# Why a variable has no effect, as NAME@WAY: "current", or on a cluster of kind "flux" or "modules".
declare -A useless=(
	[WITH_CHAOS_MESH@modules]='there is no image of Chaos Mesh; the suites break things by themselves'
	[WITH_PROMETHEUS@modules]='there is no image of Prometheus; the metrics of an operator are at :8080/metrics of its pods'
	[GATEWAY_API_VERSION@modules]='the version is pinned in hack/tools/custom-resources/go.mod'
	[SKIP_KIND_CREATE@modules]='INFRA_TARGET=current is the cluster of the kubeconfig'
	[SKIP_KIND_CREATE@flux]='INFRA_TARGET=current is the cluster of the kubeconfig'
	[CLUSTER_NAME@current]='the cluster is that of the kubeconfig'
	[KIND_HOST_PORT@current]='no kind cluster is created'
	[NODE_NOFILE_LIMIT@current]='the nodes belong to somebody else'
	[INFRA_FROM@current]='Flux installs everything'
	[STORE_CLUSTER@modules]='our manifests read paths without it; the scripts in deploy/openbao/bootstrap take it'
	[STORE_CLUSTER@flux]='our manifests read paths without it; the scripts in deploy/openbao/bootstrap take it'
	[STORE_CLUSTER@current]='our manifests read paths without it; the scripts in deploy/openbao/bootstrap take it'
	[INFRA@flux]='Flux installs everything; take releases out of an overlay of your own instead'
	[INFRA@current]='Flux installs everything; take releases out of an overlay of your own instead'
)

refuse() {
	printf 'error: %s\n' "$*" >&2
	exit 2
}

# given NAME succeeds if a variable has a value other than its default.
given() { [[ -n ${!1+set} && ${!1} != "${defaults[$1]}" ]]; }

# check_settings refuses invalid values.
check_settings() {
	local name
	for name in $(compgen -e | grep -E '^(WITH|CONTROLPLANE)_' || true); do
		[[ -v defaults[$name] ]] || refuse "$name is not a variable of deploy-infra: see docs/deploy-infra.md"
	done
	for name in "${!defaults[@]}"; do
		[[ -n ${!name+set} ]] || continue
		[[ ! -v shapes[$name] || ${!name} =~ ^(${shapes[$name]})$ ]] ||
			refuse "$name=${!name} does not match ${shapes[$name]}"
	done
}

# check_target refuses variables without effect on what is deployed, and how.
check_target() {
	local name
	for name in "${!defaults[@]}"; do
		! given "$name" || [[ ! -v useless[$name@$way] ]] ||
			refuse "$name has no effect here ($way): ${useless[$name@$way]}"
	done
}

# take_defaults sets the defaults, and exports all variables for the scripts of OpenBao.
take_defaults() {
	local name
	for name in "${!defaults[@]}"; do
		[[ -n ${!name+set} ]] || declare -gx "$name=${defaults[$name]}"
		export "${name?}"
	done
	: "${KORC_CONTROLPLANES:=openstack/$CONTROLPLANE_NAME}"
}

# check_together refuses variables that have no effect without another one.
check_together() {
	local name
	if [[ $WITH_CONTROLPLANE == false ]]; then
		[[ $WITH_CONTROLPLANE_CR == false ]] || refuse 'WITH_CONTROLPLANE_CR has no effect without WITH_CONTROLPLANE=true'
		! given CONTROLPLANE_OPERATORS || refuse 'CONTROLPLANE_OPERATORS has no effect without WITH_CONTROLPLANE=true'
	fi
	if [[ $WITH_CONTROLPLANE_CR == false ]]; then
		for name in CONTROLPLANE_NAME CONTROLPLANE_DB_REPLICAS CONTROLPLANE_CACHE_REPLICAS CONTROLPLANE_DB_STORAGE \
			DB_CREDS_DEFAULT_TTL DB_CREDS_MAX_TTL; do
			! given "$name" || refuse "$name has no effect without WITH_CONTROLPLANE_CR=true"
		done
	elif [[ " $KORC_CONTROLPLANES " != *" openstack/$CONTROLPLANE_NAME "* ]]; then
		refuse "KORC_CONTROLPLANES has to name openstack/$CONTROLPLANE_NAME: its initial passwords would be missing"
	fi
}
