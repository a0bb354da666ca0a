# The API of gateways and routes.
# shellcheck shell=bash

deploy() {
	apply -f "$(module_dir custom-resources sigs.k8s.io/gateway-api)/config/crd/standard"
}

await() { await_crd gatewayclasses.gateway.networking.k8s.io gateways.gateway.networking.k8s.io httproutes.gateway.networking.k8s.io; }
