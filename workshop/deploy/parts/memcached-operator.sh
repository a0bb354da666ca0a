# The operator of Memcached: a stand-in.
# shellcheck shell=bash
: "${manifests:?}"

namespace=memcached-system

deploy() {
	kubectl kustomize "$manifests/memcached-operator" | with_build memcached-operator | apply -f -
}

await() {
	await_crd memcacheds.memcached.c5c3.io
	await_rollout "$namespace" deployment/memcached-operator
}
