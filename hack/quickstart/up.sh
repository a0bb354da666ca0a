#!/usr/bin/env bash
# Brings up a cluster, the Keystone operator and a Keystone, and issues a token.
# Run again it finds what is there and does only what is missing.
#
# Usage: up.sh
# Environment: READY_TIMEOUT, seconds that the Keystone may take (300).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
source "$here/lib.sh"

namespace=openstack
operator_namespace=keystone-system
release=keystone-operator
chart=$root/operators/keystone/helm/keystone-operator
images=$cache/images
archives=("$images"/{keystone,mariadb,memcached,openstack-client,keystone-operator}.tar)

# A make above this one may have options and a job server that are not meant for
# the ones below.
make_quietly() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory -C "$root" "$@"; }

check_machine() { make_quietly cluster-preflight; }

# More jobs than cores: some of them download while the others compile.
build() { make_quietly -j"$(($(nproc) + 2))" quickstart-parts; }

bring_cluster_up() { "$cache/bin/forge-cluster" -checkout "$root" up; }

load_images() { "$cache/bin/forge-cluster" -checkout "$root" load "${archives[@]}"; }

new_password() { od -An -vtx1 -N16 /dev/urandom | tr -d ' \n'; }

# ensure_secret NAME [KEY VALUE]... creates a Secret with a random password, or
# leaves the one there is alone: the database and Keystone know that one. The
# values travel by standard input, which no process list shows.
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

apply() { kubectl apply --server-side --force-conflicts --field-manager=quickstart "$@"; }

# drop_unfinished_release makes way for a new attempt: Helm refuses to touch a
# release whose installation was killed half way.
drop_unfinished_release() {
	local status
	status=$(helm status "$release" -n "$operator_namespace" -o template --template '{{.info.status}}' 2>/dev/null) || return 0
	if [[ $status == pending-* || $status == failed ]]; then
		helm uninstall "$release" -n "$operator_namespace" --wait
	fi
}

# The annotation replaces the pods when the image changed under the same tag.
# Helm installs CustomResourceDefinitions only once, so they are applied here.
install_operator() {
	local build
	build=$(sha256sum "$images/keystone-operator/manager")
	apply -f "$chart/crds"
	drop_unfinished_release
	helm upgrade --install "$release" "$chart" --namespace "$operator_namespace" --create-namespace --skip-crds \
		--set image.tag=dev --set-string "podAnnotations.forge\.c5c3\.io/build=${build:0:16}" >/dev/null
}

await_workloads() {
	local workload
	kubectl -n "$operator_namespace" rollout status "deployment/$release" --timeout=3m
	for workload in statefulset/mariadb deployment/memcached deployment/openstack-client; do
		kubectl -n "$namespace" rollout status "$workload" --timeout=3m
	done
}

# A webhook answers a moment after its pod is ready, when the cluster's network
# knows about it.
bring_keystone_up() {
	retry 30 apply -f "$root/docs/examples/keystone.yaml"
	"$here/follow.sh" "$namespace" keystone "${READY_TIMEOUT:-300}"
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
	local endpoint
	endpoint=$(kubectl -n "$namespace" get keystone keystone -o 'jsonpath={.status.endpoint}')
	cat <<-END

		Keystone serves at $endpoint (inside the cluster).

		To use the cluster in this shell:

		  export KUBECONFIG=$KUBECONFIG PATH=$cache/bin:\$PATH

		To log in as the administrator:

		  kubectl -n $namespace exec -it deployment/openstack-client -- bash
		  openstack user list

		The password: kubectl -n $namespace get secret keystone-admin -o jsonpath={.data.password} | base64 -d

		To try next:

		  kubectl -n $namespace describe keystone keystone            what it consists of and how it fares
		  kubectl explain keystone.spec                           all that can be set
		  kubectl -n $namespace patch keystone keystone --type=merge -p '{"spec":{"replicas":2}}'
		  kubectl -n $namespace port-forward service/keystone 5000    then: curl http://127.0.0.1:5000/v3
		  make e2e SUITE=smoke                                    a test of what runs now
		  make deploy-infra && make e2e                           all of the end-to-end tests
		  make quickstart-down                                    the end of it
	END
}

finish() {
	local status=$?
	trap - EXIT
	if ((status != 0)); then
		printf '\nerror: "%s" failed\n' "${stage:-make quickstart}"
		# Who interrupts does not want an explanation.
		if ((status < 128)) && [[ -e $KUBECONFIG && -x $cache/bin/kubectl ]]; then
			"$here/diagnose.sh" "$namespace" "$operator_namespace" || true
		fi
		printf '\nWhat is done stays: "make quickstart" goes on from here, "make quickstart-down" removes it.\n'
	fi
	print_times
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

run_stage "Checking this machine" check_machine
run_stage "Building tools and images" build
run_stage "Bringing the cluster up" bring_cluster_up
run_stage "Loading the images" load_images
run_stage "Installing database, cache and client" install_infrastructure
run_stage "Installing the operator" install_operator
run_stage "Waiting for database, cache and operator" await_workloads
run_stage "Bringing Keystone up" bring_keystone_up
run_stage "Issuing a token" issue_token
say_what_next
