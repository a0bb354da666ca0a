# Traefik as the implementation of the Gateway API, and a gateway with TLS.
# shellcheck shell=bash
: "${root:?}" "${manifests:?}"

namespace=traefik-system

deploy() {
	kubectl kustomize "$manifests/traefik" | with_build traefik | apply -f -
}

await() {
	await_rollout "$namespace" deployment/traefik
	await_crd gateways.gateway.networking.k8s.io gatewayclasses.gateway.networking.k8s.io
	apply -f "$root/deploy/quickstart/namespace.yaml"
	ensure_certificates openstack traefik keystone-nip-io-tls
	apply -f "$manifests/traefik/gateway.yaml"
	kubectl -n openstack wait --for=condition=Programmed --timeout=1m gateway/openstack-gw >/dev/null
}
