# K-ORC: OpenStack's users, services, endpoints and credentials as objects.
# shellcheck shell=bash

namespace=orc-system

deploy() {
	apply -f "$(module_dir k-orc github.com/k-orc/openstack-resource-controller/v2)/dist/install.yaml"
}

await() { await_rollout "$namespace" deployment/orc-controller-manager; }
