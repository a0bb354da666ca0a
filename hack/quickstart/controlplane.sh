#!/usr/bin/env bash
# Brings up a cluster, the operators that a ControlPlane needs, and a
# ControlPlane, and uses the application credential that it created. A second run
# does only what is missing.
#
# Usage: controlplane.sh
# Environment: SERVICES, those of the ControlPlane; READY_TIMEOUT, seconds for it to become
# ready (600).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
source "$here/lib.sh"
# shellcheck source=stages.sh
source "$here/stages.sh"

namespace=openstack
read -ra operators <<<"c5c3 ${SERVICES:?}"
parts=(mariadb-operator external-secrets secretstore k-orc memcached-operator "${operators[@]/%/-operator}")

with_parts() { "$@" INFRA="${parts[*]}" WITH_CONTROLPLANE=true; }

build_parts() { with_parts build quickstart-controlplane-parts; }

load_parts() { with_parts make_quietly infra-load; }

deploy_services() { "$root/workshop/deploy/modules.sh" "${parts[@]}"; }

# A webhook answers only a moment after its pod is ready, when the cluster's network
# routes to it.
bring_control_plane_up() {
	apply -f "$root/deploy/quickstart/namespace.yaml"
	retry 30 apply -f "$root/deploy/controlplane/controlplane.yaml"
	local service
	for service in $SERVICES; do
		[[ $service == keystone ]] || apply -f "$root/deploy/controlplane/services/$service.yaml" --field-manager="quickstart-$service"
	done
	await_ready "$namespace" controlplane/controlplane "${READY_TIMEOUT:-600}"
}

openstack() { kubectl -n "$namespace" exec deployment/controlplane-client -- openstack "$@"; }

start_client() {
	apply -k "$root/deploy/controlplane"
	kubectl -n "$namespace" rollout status deployment/controlplane-client --timeout=3m
}

# A client that is already running gets a replaced credential only when the
# kubelet has refreshed its volume.
use_credential() {
	local credential
	credential=$(kubectl -n "$namespace" get controlplane controlplane -o 'jsonpath={.status.adminApplicationCredential.id}')
	start_client
	retry 120 openstack application credential show "$credential" -f value -c name
	printf '\nUsers\n'
	openstack user list
	printf '\nProjects\n'
	openstack project list
	printf '\nCatalog\n'
	openstack catalog list
}

say_what_next() {
	local services dashboard
	services=$(kubectl -n "$namespace" get controlplane controlplane -o 'jsonpath={range .status.services[*]} {.name} {.release}{end}')
	if [[ " $SERVICES " == *" horizon "* ]]; then
		dashboard="
To open the dashboard at http://localhost:8080, as the user admin with the password that the second command prints:

  kubectl -n $namespace port-forward service/controlplane-horizon 8080 &
  kubectl -n $namespace get secret controlplane-keystone-admin-credentials -o 'jsonpath={.data.password}' | base64 -d
"
	fi
	cat <<-END

		The services of the control plane, and their releases of OpenStack:$services

		To use the cluster in this shell:

		  export KUBECONFIG=$KUBECONFIG PATH=$cache/bin:\$PATH

		To log in with the application credential:

		  kubectl -n $namespace exec -it deployment/controlplane-client -- bash
		  openstack user list

		Its clouds.yaml: kubectl forge login controlplane/controlplane -n $namespace --clouds-yaml
		${dashboard:-}
		To try next:

		  kubectl forge status controlplane/controlplane -n $namespace    what it consists of, and its state
		  kubectl explain controlplane.spec                       all that can be set
		  kubectl forge rotate application-credential controlplane/controlplane -n $namespace
		  make e2e SUITE=c5c3/minimal                             test a separate control plane
		  make quickstart-down                                    remove everything
	END
}

end_with 'make quickstart WITH_CONTROLPLANE=true' "$namespace" orc-system external-secrets "${operators[@]/%/-system}"

run_stage "Checking this machine" check_machine
run_stage "Building tools and images" build_parts
run_stage "Bringing the cluster up" bring_cluster_up
run_stage "Loading the images" load_parts
run_stage "Deploying backing services and operators" deploy_services
run_stage "Bringing the control plane up" bring_control_plane_up
run_stage "Working with the application credential" use_credential
say_what_next
