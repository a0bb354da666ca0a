# Which cluster deploy-infra works on. Sourced after settings.sh.
# shellcheck shell=bash
: "${root:?}" "${CLUSTER_NAME:?}"

have() { command -v "$1" >/dev/null; }

# current_context prints the context of the kubeconfig, or nothing.
current_context() {
	have kubectl || return 0
	kubectl config current-context 2>/dev/null || true
}

is_own_kubeconfig() { [[ -n ${KUBECONFIG:-} && $KUBECONFIG -ef $root/kubeconfig ]]; }

# is_kind succeeds if the current context is one that kind has created on this machine.
is_kind() {
	local server
	[[ $(current_context) == kind-* ]] || return 1
	server=$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}' 2>/dev/null) || return 1
	[[ $server =~ ^https://(127\.0\.0\.1|localhost|0\.0\.0\.0|\[::1\]):[0-9]+$ ]]
}

# refuse_unnamed refuses a cluster that is only the one of the kubeconfig: it may be
# anybody's. One of kind, or one that a variable names, is meant.
refuse_unnamed() {
	[[ $target == current && -z $INFRA_TARGET && $SKIP_KIND_CREATE == false ]] || return 0
	! is_kind || return 0
	refuse "nobody has said that the cluster of the context \"$(current_context)\" is meant ($why):" \
		'set INFRA_TARGET=current to change it, or INFRA_TARGET=kind for one of this checkout'
}

# choose_target sets target and why, and for kind also way and why_way.
choose_target() {
	local context
	if [[ -n $INFRA_TARGET ]]; then
		target=$INFRA_TARGET why='INFRA_TARGET says so'
	elif is_own_kubeconfig; then
		target=kind why='KUBECONFIG is that of this checkout'
	elif [[ -n ${KUBECONFIG:-} ]]; then
		target=current why='KUBECONFIG is set'
	elif [[ -e $root/kubeconfig ]]; then
		target=kind why='the cluster of this checkout was brought up'
	else
		context=$(current_context)
		[[ $SKIP_KIND_CREATE == false || -n $context ]] ||
			refuse 'SKIP_KIND_CREATE=true needs a kubeconfig whose current context is that of the existing cluster'
		if [[ $SKIP_KIND_CREATE == true || (-n $context && $context != "kind-$CLUSTER_NAME") ]]; then
			target=current why="the kubeconfig's current context is ${context:-not set}"
		else
			target=kind why='no other cluster is named'
		fi
	fi
	way=$target
	[[ $target != kind ]] || choose_way
}

# describe_target prints the target before anything is changed.
describe_target() {
	case $target in
	kind) printf 'Target: the kind cluster "%s", because %s; from %s, because %s.\n' "$CLUSTER_NAME" "$why" "$way" "$why_way" ;;
	current)
		printf 'Target: the cluster of the context "%s" (%s), because %s.\n' "$(current_context)" \
			"$(kubectl config view --minify -o 'jsonpath={.clusters[0].cluster.server}')" "$why"
		;;
	esac
	printf 'To choose another one: INFRA_TARGET=kind or current, and INFRA_FROM=flux or modules for kind.\n'
}

# use_kubeconfig COMMAND... uses the output of the command as the kubeconfig of this run,
# so that the cluster cannot change during the run.
use_kubeconfig() {
	local copy
	copy=$(mktemp)
	scratch+=("$copy")
	"$@" >"$copy"
	export KUBECONFIG=$copy
}
