#!/usr/bin/env bash
# Generates the initial passwords that OpenBao lacks: those of MariaDB's root, of
# the database user of a standalone Keystone and, for each ControlPlane, of its
# administrator and the database users of its services.
#
# Usage: write-bootstrap-secrets.sh
# Environment: see lib.sh; KORC_CONTROLPLANES, ControlPlanes as NAMESPACE/NAME
# (openstack/controlplane).
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_tools kubectl jq

# In the pod: exists PATH; seed PATH VALUE KEY [FIELD=VALUE] writes a value for the
# key unless the path exists, which -cas=0 enforces; hand_over PATH allows External
# Secrets to replace the value, which it only does to secrets that it manages.
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

# seed PATH KEY [FIELD=VALUE] prints the call, with a generated value.
seed() { say "seed $(path "$1") $(random_secret) $2 ${3:-}"; }

commands=$(
	seed infrastructure/mariadb root-password
	seed openstack/keystone/standalone/db password username=keystone
	for controlplane in ${KORC_CONTROLPLANES:-openstack/controlplane}; do
		[[ $controlplane =~ ^[a-z0-9-]+/[a-z0-9.-]+$ ]] || fail "KORC_CONTROLPLANES: \"$controlplane\" is not NAMESPACE/NAME"
		seed "bootstrap/$controlplane-keystone/admin" password
		say "hand_over $(path "bootstrap/$controlplane-keystone/admin")"
		for service in keystone barbican placement glance; do
			seed "openstack/$service/$controlplane/db" password "username=$service"
		done
	done
)
store <<<"$functions
$commands"
