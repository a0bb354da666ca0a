#!/usr/bin/env bash
# Deploys the infrastructure of our operators, or removes it again: to the cluster of this checkout,
# which is one of kind, or to that of the current kubeconfig.
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
	kind) deploy_kind ;;
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
	kind) make_target cluster-down ;;
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
[[ $action == teardown ]] || check_target
describe_target
"$action"
