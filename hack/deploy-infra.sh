#!/usr/bin/env bash
# Deploys the infrastructure of our operators, or removes it again: to the cluster of the
# current kubeconfig, to a kind cluster, or to the local cluster of this checkout.
# A second run changes only what differs. docs/deploy-infra.md has the variables.
#
# Usage: deploy-infra.sh [--teardown]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$root/hack/deploy-infra
# shellcheck source=quickstart/progress.sh
source "$root/hack/quickstart/progress.sh"
# shellcheck source=deploy-infra/settings.sh
source "$here/settings.sh"
check_settings
take_defaults
check_together
# shellcheck source=deploy-infra/target.sh
source "$here/target.sh"
# shellcheck source=deploy-infra/kind.sh
source "$here/kind.sh"

action=deploy
case ${1:-} in
'') ;;
--teardown) action=teardown ;;
*) refuse "usage: $0 [--teardown]" ;;
esac

# require TOOL...
require() {
	local tool
	for tool; do
		have "$tool" || refuse "$tool is not installed"
	done
}

# local_target TARGET makes make build what is missing. A make that called this script may
# have options and a job server that are not meant for the one called here.
local_target() {
	[[ -n $INFRA ]] || unset INFRA
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory -C "$root" "$1"
}

source_flux() {
	# shellcheck source=deploy-infra/flux.sh
	source "$here/flux.sh"
	# shellcheck source=deploy-infra/owned.sh
	source "$here/owned.sh"
	# shellcheck source=deploy-infra/controlplane.sh
	source "$here/controlplane.sh"
}

use_current() {
	require kubectl jq
	[[ -n $(current_context) ]] || refuse 'the kubeconfig has no current context: kubectl config use-context NAME'
	use_kubeconfig kubectl config view --minify --flatten --raw
}

deploy() {
	case $target in
	local) local_target infra-local ;;
	kind)
		preflight_kind
		source_flux
		run_stage "Bringing the kind cluster $CLUSTER_NAME up" create_kind
		deploy_flux
		;;
	current)
		use_current
		source_flux
		preflight_flux
		refuse_foreign
		deploy_flux
		;;
	esac
}

teardown() {
	case $target in
	local) local_target cluster-down ;;
	kind) delete_kind ;;
	current)
		use_current
		source_flux
		preflight_flux
		remove_flux
		;;
	esac
}

scratch=()
finish() {
	local status=$?
	trap - EXIT
	((${#scratch[@]} == 0)) || rm -f "${scratch[@]}"
	if ((${#stages[@]} > 0)) || [[ -n $stage ]]; then
		print_times
	fi
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

choose_target
refuse_unnamed
[[ $action == teardown ]] || check_target "$target"
describe_target
"$action"
