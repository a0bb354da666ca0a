# The secret store: a stand-in for OpenBao, with its certificates, set up by the
# bootstrap scripts of OpenBao, and the ClusterSecretStore through which External
# Secrets reaches it.
# shellcheck shell=bash
: "${root:?}" "${cache:?}" "${manifests:?}"

namespace=openbao-system

deploy() {
	apply -f "$manifests/secretstore/namespace.yaml"
	ensure_certificates "$namespace" secretstore openbao-tls openbao-client-tls eso-openbao-client-tls
	kubectl kustomize "$manifests/secretstore" | with_build secretstore | apply -f -
}

await() {
	await_rollout "$namespace" statefulset/openbao
	PATH=$cache/bin:$PATH NO_PROXY='*' no_proxy='*' "$root/deploy/openbao/bootstrap/bootstrap.sh"
	if kubectl get crd clustersecretstores.external-secrets.io -o name >/dev/null 2>&1; then
		apply -k "$root/deploy/infrastructure/store"
		kubectl wait --for=condition=Ready "--timeout=${EXTERNALSECRET_TIMEOUT}s" \
			clustersecretstore/openbao-infrastructure-store clustersecretstore/openbao-cluster-store >/dev/null
	fi
}
