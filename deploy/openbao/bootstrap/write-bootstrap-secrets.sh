#!/usr/bin/env bash
# Puts the first passwords into OpenBao, each made here and only where there is
# none: the root of MariaDB, the database user of a Keystone that stands alone, and
# for each ControlPlane its administrator and the database users of its services.
#
# Usage: write-bootstrap-secrets.sh
# Environment: see lib.sh; KORC_CONTROLPLANES, ControlPlanes as NAMESPACE/NAME
# (openstack/controlplane).
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_tools kubectl jq

# In the pod: exists PATH; seed PATH VALUE KEY [FIELD=VALUE] writes a value for the
# key unless there is something, which -cas=0 makes sure of once more; hand_over PATH
# lets External Secrets replace what is there, which it does only to what it manages.
functions='
exists() { bao kv metadata get -mount=kv-v2 "$1" >/dev/null 2>&1; }
seed() {
	if exists "$1"; then return; fi
	more=${4:-}
	printf %s "$2" | bao kv put -mount=kv-v2 -cas=0 "$1" ${more:+"$more"} "$3=-" >/dev/null
	echo "wrote $1"
}
hand_over() {
	case $(bao kv metadata get -mount=kv-v2 -format=json "$1") in
	*managed-by*) ;;
	*) bao kv metadata put -mount=kv-v2 -custom-metadata=managed-by=external-secrets "$1" >/dev/null ;;
	esac
}'

# seed PATH KEY [FIELD=VALUE] prints the call, with a value made here.
seed() { say "seed $(path "$1") $(random_secret) $2 ${3:-}"; }

commands=$(
	seed infrastructure/mariadb root-password
	seed openstack/keystone/standalone/db password username=keystone
	for controlplane in ${KORC_CONTROLPLANES:-openstack/controlplane}; do
		[[ $controlplane =~ ^[a-z0-9-]+/[a-z0-9.-]+$ ]] || fail "KORC_CONTROLPLANES: \"$controlplane\" is not NAMESPACE/NAME"
		seed "bootstrap/$controlplane-keystone/admin" password
		say "hand_over $(path "bootstrap/$controlplane-keystone/admin")"
		for service in keystone placement; do
			seed "openstack/$service/$controlplane/db" password "username=$service"
		done
	done
)
store <<<"$functions
$commands"
