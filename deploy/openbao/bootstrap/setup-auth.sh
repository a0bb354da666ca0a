#!/usr/bin/env bash
# Enables missing logins of OpenBao, and sets their roles.
#
# Clusters other than the one that OpenBao runs in have to be configured manually:
#   bao write auth/kubernetes/control-plane/config kubernetes_host=https://… kubernetes_ca_cert=@ca.crt token_reviewer_jwt=-
# Until then, nothing can log in from there.
#
# Usage: setup-auth.sh
# Environment: see lib.sh.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_tools kubectl jq

# enable PATH TYPE prints the command that enables a login, or nothing if it is
# enabled. A login of another type is an error.
enable() {
	local path=$1 type=$2 present
	present=$(jq -r --arg path "$path/" '.[$path].type // empty' <<<"$logins")
	case $present in
	"$type") ;;
	'') say "bao auth enable -path=$path $type >/dev/null; echo 'enabled auth/$path/'" ;;
	*) fail "at auth/$path/ is a login of type $present, not $type" ;;
	esac
}

# role MOUNT NAME ACCOUNT NAMESPACES POLICIES [AUDIENCE] prints the command that sets a
# role. With an audience it refuses the tokens that pods have of their accounts.
role() {
	say "bao write auth/$1/role/$2 bound_service_account_names=$3 'bound_service_account_namespaces=$4'" \
		"token_policies=$5 ${6:+audience=$6} token_ttl=1h token_max_ttl=4h >/dev/null"
}

# tenants MOUNT NAME POLICIES prints the command that sets the role of all tenants: their
# policies depend on the namespace of the account. Each namespace has the account default.
tenants() { role "$1" "$2" default '*' "$3" openbao; }

logins=$(bao auth list -format=json)
commands=$(
	for cluster in management control-plane hypervisor storage; do
		enable "kubernetes/$cluster" kubernetes
	done
	enable approle approle
	# OpenBao runs in this cluster and uses its own account to review tokens.
	say 'bao write auth/kubernetes/management/config kubernetes_host=https://kubernetes.default.svc >/dev/null'
	# Not the account of the pod of External Secrets, whose token a SecretStore of any
	# namespace may use.
	role kubernetes/management eso-management openbao-infrastructure openbao-system eso-management openbao
	tenants kubernetes/management eso-tenant eso-tenant,push-keystone-keys,push-keystone-admin,push-barbican-keys,push-app-credentials
	tenants kubernetes/control-plane eso-control-plane eso-control-plane
	role kubernetes/hypervisor eso-hypervisor external-secrets external-secrets eso-hypervisor
	role kubernetes/storage eso-storage external-secrets external-secrets eso-storage,push-ceph-keys
	role kubernetes/management keystone-db keystone-db-creds '*' keystone-db-dynamic
	say 'bao write auth/approle/role/provisioner token_policies=ci-cd-provisioner token_ttl=1h token_max_ttl=4h' \
		'secret_id_ttl=8760h >/dev/null'
)
store <<<"$commands"
say 'logins and roles are set'
