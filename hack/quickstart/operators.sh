# Installs our own operators from their charts. Sourced after lib.sh by scripts
# that define "apply".
# shellcheck shell=bash
: "${root:?}" "${cache:?}"

# operator_namespace NAME prints the namespace of the operator.
operator_namespace() { echo "$1-system"; }

# drop_unfinished_release allows a new attempt: Helm refuses to touch a
# release whose installation was interrupted.
drop_unfinished_release() {
	local release=$1 namespace=$2 status
	status=$(helm status "$release" -n "$namespace" -o template --template '{{.info.status}}' 2>/dev/null) || return 0
	if [[ $status == pending-* || $status == failed ]]; then
		helm uninstall "$release" -n "$namespace" --wait
	fi
}

# install_operator NAME installs, for example, "keystone". The annotation
# replaces the pods when the image changed under the same tag. The definitions are
# always those of the checkout: the chart's own Job would leave newer ones from an
# earlier checkout alone.
install_operator() {
	local release=$1-operator namespace build
	local chart=$root/operators/$1/helm/$release
	namespace=$(operator_namespace "$1")
	build=$(sha256sum "$cache/images/$release/manager")
	apply -f "$chart/crds"
	drop_unfinished_release "$release" "$namespace"
	# Two cores are enough for all operators beside two control planes.
	helm upgrade --install "$release" "$chart" --namespace "$namespace" --create-namespace --skip-crds \
		--set crds.upgrade=false --set image.tag=dev --set resources.requests.cpu=5m --set-string "podAnnotations.forge\.c5c3\.io/build=${build:0:16}" >/dev/null
}

# await_operator NAME returns when it runs.
await_operator() { kubectl -n "$(operator_namespace "$1")" rollout status "deployment/$1-operator" --timeout=3m; }
