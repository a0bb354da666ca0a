#!/usr/bin/env bash
# Brings up a cluster, the Keystone operator and a Keystone, and issues a token.
# A second run does only what is missing.
#
# Usage: up.sh
# Environment: READY_TIMEOUT, seconds for the Keystone to become ready (300).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
source "$here/lib.sh"
# shellcheck source=stages.sh
source "$here/stages.sh"
# shellcheck source=operators.sh
source "$here/operators.sh"

namespace=openstack
images=(keystone mariadb memcached openstack-client keystone-operator)

# ensure_secret NAME [KEY VALUE]... creates a Secret with a random password, or
# leaves an existing one alone: the database and Keystone use its password. The
# values are passed on standard input, which no process list shows.
ensure_secret() {
	local name=$1
	shift
	if kubectl -n "$namespace" get secret "$name" -o name 2>/dev/null; then
		return
	fi
	{
		printf 'apiVersion: v1\nkind: Secret\nmetadata: {name: %s, namespace: %s}\nstringData:\n' "$name" "$namespace"
		printf '  %s: "%s"\n' password "$(new_password)" "$@"
	} | kubectl create -f -
}

install_infrastructure() {
	apply -f "$root/deploy/quickstart/namespace.yaml"
	ensure_secret mariadb-root
	ensure_secret keystone-db username keystone
	ensure_secret keystone-admin
	apply -k "$root/deploy/quickstart"
}

await_workloads() {
	local workload
	await_operator keystone
	for workload in statefulset/mariadb deployment/memcached deployment/openstack-client; do
		kubectl -n "$namespace" rollout status "$workload" --timeout=3m
	done
}

# A webhook answers only a moment after its pod is ready, when the cluster's network
# routes to it.
bring_keystone_up() {
	retry 30 apply -f "$root/docs/examples/keystone.yaml"
	await_ready "$namespace" keystone/keystone "${READY_TIMEOUT:-300}"
}

openstack() { kubectl -n "$namespace" exec deployment/openstack-client -- openstack "$@"; }

issue_token() {
	local fields
	mapfile -t fields < <(openstack token issue -f value -c expires -c id -c user_id)
	if [[ ${#fields[@]} != 3 || ${#fields[1]} -lt 100 ]]; then
		echo "the OpenStack client did not get a token, see above" >&2
		return 1
	fi
	echo "issued a token of ${#fields[1]} characters to user ${fields[2]}, valid until ${fields[0]}"
}

say_what_next() {
	local endpoint release version
	read -r release endpoint < <(kubectl -n "$namespace" get keystone keystone -o 'jsonpath={.status.installedRelease} {.status.endpoint}{"\n"}')
	version=$(kubectl -n "$namespace" exec deployment/keystone -- keystone-manage --version)
	cat <<-END

		Keystone $version of OpenStack $release serves at $endpoint (inside the cluster).

		To use the cluster in this shell:

		  export KUBECONFIG=$KUBECONFIG PATH=$cache/bin:\$PATH

		To log in as the administrator:

		  kubectl -n $namespace exec -it deployment/openstack-client -- bash
		  openstack user list

		The clouds.yaml with the password: kubectl forge login keystone/keystone -n $namespace --clouds-yaml

		To try next:

		  kubectl forge status -n $namespace                      what it consists of, and its state
		  kubectl forge rotate fernet keystone/keystone -n $namespace    new keys for tokens
		  kubectl explain keystone.spec                           all that can be set
		  kubectl -n $namespace patch keystone keystone --type=merge -p '{"spec":{"replicas":2}}'
		  kubectl forge wait keystone/keystone -n $namespace      follow the change
		  kubectl -n $namespace port-forward service/keystone 5000    then: curl http://127.0.0.1:5000/v3
		  make e2e SUITE=smoke                                    test the running Keystone
		  make deploy-infra && make e2e                           all end-to-end tests
		  make quickstart WITH_CONTROLPLANE=true                  a whole control plane next to it
		  make quickstart-down                                    remove everything
	END
}

end_with 'make quickstart' "$namespace" "$(operator_namespace keystone)"

run_stage "Checking this machine" check_machine
run_stage "Building tools and images" build quickstart-parts
run_stage "Bringing the cluster up" bring_cluster_up
run_stage "Loading the images" load_images "${images[@]}"
run_stage "Installing database, cache and client" install_infrastructure
run_stage "Installing the operator" install_operator keystone
run_stage "Waiting for database, cache and operator" await_workloads
run_stage "Bringing Keystone up" bring_keystone_up
run_stage "Issuing a token" issue_token
say_what_next
