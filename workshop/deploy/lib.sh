# What the parts of deploy-infra share. Sourced after the quick start's lib.sh.
# shellcheck shell=bash
: "${root:?}" "${cache:?}"

manifests=$root/deploy/infra

apply() { kubectl apply --server-side --force-conflicts --field-manager=deploy-infra "$@" >/dev/null; }

module_dir() { "$root/hack/tools/module-dir.sh" "$@"; }

# pod_build IMAGE prints a digest that changes when the image of that archive does, so
# that pods are replaced although its name stays.
pod_build() {
	local sum
	sum=$(sha256sum "$cache/images/$1.tar")
	echo "${sum:0:16}"
}

# with_build IMAGE adds that digest to the pods of manifests.
with_build() { sed "s/forge.c5c3.io\/build: .*/forge.c5c3.io\/build: \"$(pod_build "$1")\"/"; }

# has_secrets NAMESPACE NAME... succeeds when all of them exist.
has_secrets() {
	local namespace=$1
	shift
	kubectl -n "$namespace" get secrets "$@" -o name >/dev/null 2>&1
}

# ensure_certificates NAMESPACE PART NAME... creates what certificates.json of a
# part describes. One authority signs all, and its key is discarded, so that all
# are recreated if one of the Secrets is missing.
ensure_certificates() {
	local namespace=$1 part=$2
	shift 2
	has_secrets "$namespace" "$@" || "$cache/bin/certificates" <"$manifests/$part/certificates.json" | apply -f -
}

# install_chart RELEASE NAMESPACE CHART [HELM ARGUMENT]... installs a chart of a
# module with the values in deploy/infra/RELEASE. The charts that it depends on
# are left out: they are not part of the module.
install_chart() {
	local release=$1 namespace=$2 source=$3 chart=$cache/infra/charts/$1 status
	shift 3
	rm -rf "$chart"
	mkdir -p "${chart%/*}"
	cp -r --no-preserve=mode "$source" "$chart"
	sed -i '/^dependencies:/,$d' "$chart/Chart.yaml"
	rm -f "$chart/Chart.lock"
	# Helm refuses to touch a release whose installation was interrupted.
	status=$(helm status "$release" -n "$namespace" -o template --template '{{.info.status}}' 2>/dev/null) || true
	if [[ $status == pending-* || $status == failed ]]; then
		helm uninstall "$release" -n "$namespace" --wait
	fi
	helm upgrade --install "$release" "$chart" --namespace "$namespace" --create-namespace --timeout "${HELMRELEASE_TIMEOUT}s" \
		--values "$manifests/$release/values.yaml" \
		--set-string "podAnnotations.forge\.c5c3\.io/build=$(pod_build "$release")" "$@" >/dev/null
}

await_rollout() { kubectl -n "$1" rollout status "$2" "--timeout=${POD_TIMEOUT}s" >/dev/null; }

await_crd() { kubectl wait --for=condition=Established --timeout=60s "${@/#/crd/}" >/dev/null; }
