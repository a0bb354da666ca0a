# A cluster on which Flux installs everything. Sourced after target.sh.
# shellcheck shell=bash
: "${root:?}" "${target:?}" "${WITH_CONTROLPLANE:?}"

# The release of the definitions in hack/tools/custom-resources.
flux_operator=v0.53.0

# A test cluster gets one server of each kind, others get the production sizes.
if [[ $target == kind || $SKIP_KIND_CREATE == true ]]; then
	base=deploy/kind/base infrastructure=deploy/kind/infrastructure
else
	base=deploy/flux-system infrastructure=deploy/infrastructure
fi

mapfile -t operators < <("$root/hack/tools/operators.sh")

# On a cluster of others nothing that another manager has set is overwritten: kubectl names
# the conflict.
force=(--force-conflicts)
[[ $base == deploy/kind/base ]] || force=()

apply() { kubectl apply --server-side "${force[@]}" --field-manager=deploy-infra "$@" >/dev/null; }

preflight_flux() {
	require kubectl jq
	kubectl --request-timeout=10s get --raw /readyz >/dev/null ||
		refuse 'the cluster of the kubeconfig does not answer'
	[[ $WITH_CHAOS_MESH == false || $base == deploy/kind/base ]] ||
		refuse 'WITH_CHAOS_MESH is for kind clusters only: set SKIP_KIND_CREATE=true if this is one'
}

has_crd() { kubectl get crd "$1" -o name >/dev/null 2>&1; }

# An existing Flux is used as it is.
install_flux() {
	if has_crd helmreleases.helm.toolkit.fluxcd.io && ! has_crd fluxinstances.fluxcd.controlplane.io; then
		echo 'Flux is already installed and stays as it is'
		apply -k "$root/deploy/namespaces"
		return
	fi
	retry 60 apply -f "https://github.com/controlplaneio-fluxcd/flux-operator/releases/download/$flux_operator/install.yaml"
	apply -k "$root/deploy/namespaces"
	retry 60 apply -f "$root/deploy/flux-system/fluxinstance.yaml"
	kubectl -n flux-system wait --for=condition=Ready "--timeout=${HELMRELEASE_TIMEOUT}s" fluxinstance/flux >/dev/null
}

# An installed version is replaced only by one that was explicitly requested.
install_gateway_api() {
	local present attempt
	present=$(kubectl get crd gateways.gateway.networking.k8s.io --ignore-not-found \
		-o 'jsonpath={.metadata.annotations.gateway\.networking\.k8s\.io/bundle-version}')
	if [[ -n $present ]] && ! given GATEWAY_API_VERSION; then
		echo "Gateway API $present is already installed and stays"
		return
	fi
	for attempt in 1 2 3; do
		apply -f "https://github.com/kubernetes-sigs/gateway-api/releases/download/$GATEWAY_API_VERSION/standard-install.yaml" && return
		((attempt == 3)) || sleep 5
	done
	return 1
}

# suspend KIND NAME VALUE
suspend() { kubectl -n flux-system patch "$1" "$2" --type=merge -p "{\"spec\": {\"suspend\": $3}}" >/dev/null; }

# The operators of a ControlPlane are installed by Flux, by someone else, or not at all.
choose_operators() {
	local korc=true controlplane=true services=true operator suspended
	[[ $WITH_CONTROLPLANE == false ]] || korc=false
	[[ $WITH_CONTROLPLANE == false || $CONTROLPLANE_OPERATORS == external ]] || controlplane=false services=false
	# In production the operators of services are deployed even without a ControlPlane.
	[[ $base == deploy/kind/base || $CONTROLPLANE_OPERATORS == external ]] || services=false
	suspend gitrepository k-orc "$korc"
	suspend kustomization.kustomize.toolkit.fluxcd.io k-orc "$korc"
	suspend helmrepository c5c3-charts "$services"
	for operator in "${operators[@]}"; do
		suspended=$services
		[[ $operator != c5c3 ]] || suspended=$controlplane
		suspend helmrelease "$operator-operator" "$suspended"
	done
}

# apply_releases applies the sources and releases, and has Flux fetch the repositories now.
apply_releases() {
	apply -k "$root/$base"
	if [[ $WITH_CHAOS_MESH == true ]]; then
		apply -k "$root/deploy/kind/chaos-mesh"
	fi
	if [[ $WITH_PROMETHEUS == true ]]; then
		apply_dashboards
		apply -k "$root/deploy/kind/prometheus"
		watch_operators
	fi
	choose_operators
	kubectl -n flux-system annotate helmrepository --all --overwrite "reconcile.fluxcd.io/requestedAt=$(date +%s)" >/dev/null
}

# watch_operators makes the releases of our operators create ServiceMonitors and alert
# rules.
watch_operators() {
	local operator
	for operator in "${operators[@]}"; do
		kubectl -n flux-system patch helmrelease "$operator-operator" --type=merge \
			-p '{"spec": {"values": {"monitoring": {"serviceMonitor": {"enabled": true}, "prometheusRule": {"enabled": true}}}}}' >/dev/null
	done
}

# Grafana loads dashboards from ConfigMaps with this label.
apply_dashboards() {
	local file name
	for file in "$root"/operators/*/dashboards/*.json; do
		name=dashboard-$(basename "$file" .json)
		kubectl -n monitoring create configmap "$name" --from-file="$file" --dry-run=client -o json |
			jq '.metadata.labels = {grafana_dashboard: "1"}' | apply -f -
	done
}

# await_release NAME [SECONDS] waits for a release. If it does not become ready,
# Flux's message is printed.
await_release() {
	if kubectl -n flux-system wait --for=condition=Ready "--timeout=${2:-$HELMRELEASE_TIMEOUT}s" "helmrelease/$1" >/dev/null; then
		echo "$1 is ready"
		return
	fi
	kubectl -n flux-system get helmrelease "$1" \
		-o 'jsonpath={range .status.conditions[*]}{.type}{" "}{.status}{" "}{.reason}{": "}{.message}{"\n"}{end}' >&2
	echo "the release $1 does not become ready: kubectl -n flux-system describe helmrelease $1" >&2
	return 1
}

await_releases() {
	local release
	await_release cert-manager
	# The webhook of cert-manager answers only a moment later, and OpenBao waits for
	# the certificates.
	retry "$POD_TIMEOUT" apply -k "$root/deploy/infrastructure/issuers"
	for release in prometheus-operator-crds openbao mariadb-operator-crds mariadb-operator external-secrets memcached-operator \
		envoy-gateway; do
		await_release "$release"
	done
	[[ $WITH_CHAOS_MESH == false ]] || await_release chaos-mesh
	[[ $WITH_PROMETHEUS == false ]] || await_release kube-prometheus-stack "$((HELMRELEASE_TIMEOUT > 1200 ? HELMRELEASE_TIMEOUT : 1200))"
}

# apply_infrastructure waits for the definitions first: the API server rejects objects of
# unknown kinds.
apply_infrastructure() {
	local crd folder=$infrastructure
	for crd in memcacheds.memcached.c5c3.io clustersecretstores.external-secrets.io externalsecrets.external-secrets.io \
		mariadbs.k8s.mariadb.com envoyproxies.gateway.envoyproxy.io; do
		retry "$HELMRELEASE_TIMEOUT" kubectl wait --for=condition=Established --timeout=10s "crd/$crd" >/dev/null
	done
	# A ControlPlane on a test cluster creates its own database and cache.
	if [[ $WITH_CONTROLPLANE == true && $base == deploy/kind/base ]]; then
		folder=$infrastructure/shared
	else
		refuse_owned_by_controlplane
	fi
	retry "$POD_TIMEOUT" apply -k "$root/$folder"
	kubectl -n openstack wait --for=condition=Programmed "--timeout=${POD_TIMEOUT}s" gateway/openstack-gw >/dev/null
}

# open_store initialises and unseals OpenBao, whose pods are not ready before that.
open_store() {
	local pods=(pods -l app.kubernetes.io/name=openbao)
	retry "$POD_TIMEOUT" kubectl -n "$OPENBAO_NAMESPACE" wait '--for=jsonpath={.status.phase}=Running' --timeout=10s "${pods[@]}" >/dev/null
	"$root/deploy/openbao/bootstrap/bootstrap.sh"
	kubectl -n "$OPENBAO_NAMESPACE" wait --for=condition=Ready "--timeout=${POD_TIMEOUT}s" "${pods[@]}" >/dev/null
	# So far External Secrets has found the store sealed; the annotation triggers
	# another check.
	kubectl annotate clustersecretstore openbao-infrastructure-store --overwrite "forge.c5c3.io/looked-at=$(date +%s)" >/dev/null
	kubectl wait --for=condition=Ready "--timeout=${EXTERNALSECRET_TIMEOUT}s" \
		clustersecretstore/openbao-infrastructure-store clustersecretstore/openbao-cluster-store >/dev/null
}

await_secrets() {
	local secrets=(mariadb-root-password)
	[[ $base != deploy/kind/base ]] || secrets+=(keystone-admin keystone-db)
	# ExternalSecrets that failed while the store was sealed would retry only after
	# a while.
	kubectl -n openstack annotate "${secrets[@]/#/externalsecret/}" --overwrite "force-sync=$(date +%s)" >/dev/null
	kubectl -n openstack wait --for=condition=Ready "--timeout=${EXTERNALSECRET_TIMEOUT}s" "${secrets[@]/#/externalsecret/}" >/dev/null
	kubectl -n openstack wait --for=condition=Ready "--timeout=${HELMRELEASE_TIMEOUT}s" mariadb/openstack-db >/dev/null
}

await_controlplane_operators() {
	local operator
	kubectl -n flux-system wait --for=condition=Ready "--timeout=${HELMRELEASE_TIMEOUT}s" \
		kustomization.kustomize.toolkit.fluxcd.io/k-orc >/dev/null
	if [[ $CONTROLPLANE_OPERATORS == flux ]]; then
		for operator in "${operators[@]}"; do
			await_release "$operator-operator"
		done
	fi
	[[ $WITH_CONTROLPLANE_CR == false ]] || apply_controlplane true
}

# deploy_flux runs all stages. External Secrets delivers nothing before the store is open.
deploy_flux() {
	run_stage 'Installing Flux' install_flux
	run_stage 'Installing the Gateway API' install_gateway_api
	run_stage 'Applying sources and releases' apply_releases
	run_stage 'Waiting for the releases' await_releases
	run_stage 'Applying the infrastructure' apply_infrastructure
	run_stage 'Setting OpenBao up' open_store
	if [[ $WITH_CONTROLPLANE == true ]]; then
		run_stage 'Waiting for the operators of the control plane' await_controlplane_operators
	else
		run_stage 'Waiting for Secrets and the database' await_secrets
	fi
}

# remove_flux removes what was deployed, in reverse order. Namespaces stay,
# since others may use them, and so does Flux.
remove_flux() {
	local folder
	refuse_others keystones.keystone.openstack.c5c3.io
	refuse_others controlplanes.c5c3.io
	refuse_others mariadbs.k8s.mariadb.com openstack-db
	refuse_others externalsecrets.external-secrets.io keystone-admin keystone-db mariadb-root-password
	for folder in "$infrastructure" deploy/kind/prometheus deploy/kind/chaos-mesh "$base"; do
		remove "$root/$folder"
	done
	echo 'Namespaces, Flux, the Gateway API and K-ORC stay: others may use them.'
}

# refuse_others KIND [NAME]... refuses if there are more objects of a kind than were
# deployed: its definition is deleted, which would delete them, too.
refuse_others() {
	local kind=$1 found
	shift
	has_crd "$kind" || return 0
	found=$(kubectl get "$kind" --all-namespaces -o json | jq -r --arg ours "$*" '.items[].metadata |
		select(.namespace != "openstack" or (.name | IN($ours | split(" ")[]) | not)) | "\(.namespace)/\(.name)"')
	[[ -z $found ]] || refuse "these $kind would be lost, delete them first: ${found//$'\n'/ }"
}
