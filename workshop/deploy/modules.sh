#!/usr/bin/env bash
# Deploys the operators and services that ours use to the cluster of this checkout, each
# with its own chart or manifests. Their images have to exist. A second run
# changes only what differs.
#
# Usage: modules.sh PART...
#   PART   one of the files in "parts" next to this script, or one of our operators,
#          such as "keystone-operator"
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=../../hack/quickstart/lib.sh
source "$here/../../hack/quickstart/lib.sh"
# shellcheck source=../../hack/deploy-infra/settings.sh
source "$root/hack/deploy-infra/settings.sh"
check_settings
take_defaults
# shellcheck source=lib.sh
source "$here/lib.sh"
# shellcheck source=../../hack/deploy-infra/controlplane.sh
source "$root/hack/deploy-infra/controlplane.sh"
# shellcheck source=../../hack/quickstart/operators.sh
source "$root/hack/quickstart/operators.sh"

mapfile -t operators < <("$root/hack/tools/operators.sh")

# read_part reads the file of the current part. Our operators share one.
read_part() {
	local file=$current
	[[ " ${operators[*]/%/-operator} " != *" $current "* ]] || file=own-operator
	# shellcheck source=/dev/null
	source "$here/parts/$file.sh"
}

# A part's file defines "deploy", which applies it, and "await", which returns when
# it works. All parts are applied before the first is waited for. "namespace" is where
# to look if it does not work.
run_part() {
	local step=$1 part=$2
	current=$part
	(
		read_part
		"$step"
	)
}

deploy_parts() {
	local part
	for part; do
		echo "$part"
		run_part deploy "$part"
	done
}

await_parts() {
	local part
	for part; do
		run_part await "$part"
		echo "$part is ready"
	done
}

# Parts that configure others are deployed first.
order=(
	cert-manager gateway-api mariadb-operator external-secrets secretstore metrics-server traefik k-orc memcached-operator
	"${operators[@]/%/-operator}" openstack directory
)
parts=()
for part in "${order[@]}"; do
	[[ " $* " != *" $part "* ]] || parts+=("$part")
done

diagnose() {
	local namespace=
	read_part
	echo "$current does not become ready" >&2
	[[ -z $namespace ]] || forge status --workloads --namespace="$namespace" --request-timeout=10s >&2 || true
}

current=
finish() {
	local status=$?
	if ((status != 0)) && [[ -n $current ]]; then
		diagnose
	fi
	print_times
	exit "$status"
}
trap finish EXIT

run_stage 'Deploying backing services' deploy_parts "${parts[@]}"
run_stage 'Waiting for backing services' await_parts "${parts[@]}"
if [[ $WITH_CONTROLPLANE_CR == true ]]; then
	apply -f "$root/deploy/quickstart/namespace.yaml"
	# The scripts of OpenBao look up kubectl themselves.
	export PATH=$cache/bin:$PATH NO_PROXY='*' no_proxy='*'
	run_stage "Bringing the control plane up" apply_controlplane "$([[ " ${parts[*]} " == *' traefik '* ]] && echo true || echo false)"
fi
