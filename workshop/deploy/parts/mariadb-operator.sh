# mariadb-operator: databases, users and grants as objects.
# shellcheck shell=bash

namespace=mariadb-system

deploy() {
	local module
	module=$(module_dir mariadb-operator github.com/mariadb-operator/mariadb-operator)
	apply -f "$module/deploy/charts/mariadb-operator-crds/templates/crds.yaml"
	install_chart mariadb-operator "$namespace" "$module/deploy/charts/mariadb-operator"
}

await() { await_rollout "$namespace" deployment/mariadb-operator; }
