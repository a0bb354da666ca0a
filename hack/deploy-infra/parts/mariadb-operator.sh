# mariadb-operator: databases, users and grants as objects.
# shellcheck shell=bash

deploy() {
	local module
	module=$(module_dir mariadb-operator github.com/mariadb-operator/mariadb-operator)
	apply -f "$module/deploy/charts/mariadb-operator-crds/templates/crds.yaml"
	install_chart mariadb-operator mariadb-system "$module/deploy/charts/mariadb-operator"
}

await() { await_rollout mariadb-system deployment/mariadb-operator; }
