#!/usr/bin/env bash
# Enables the logins of OpenBao that are missing, and sets their roles.
#
# The clusters other than the one OpenBao runs in have to be made known by hand:
#   bao write auth/kubernetes/control-plane/config kubernetes_host=https://… kubernetes_ca_cert=@ca.crt token_reviewer_jwt=-
# Nobody can log in there before that.
#
# Usage: setup-auth.sh
# Environment: see lib.sh.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_tools kubectl jq

# enable PATH TYPE prints what enables a login, and nothing for one that is there.
# One of another type is refused.
enable() {
	local path=$1 type=$2 present
	present=$(jq -r --arg path "$path/" '.[$path].type // empty' <<<"$logins")
	case $present in
	"$type") ;;
	'') say "bao auth enable -path=$path $type >/dev/null; echo 'enabled auth/$path/'" ;;
	*) fail "at auth/$path/ is a login of type $present, not $type" ;;
	esac
}

# role MOUNT NAME ACCOUNT NAMESPACES POLICIES prints what sets a role.
role() {
	say "bao write auth/$1/role/$2 bound_service_account_names=$3 'bound_service_account_namespaces=$4'" \
		"token_policies=$5 token_ttl=1h token_max_ttl=4h >/dev/null"
}

logins=$(bao auth list -format=json)
commands=$(
	for cluster in management control-plane hypervisor storage; do
		enable "kubernetes/$cluster" kubernetes
	done
	enable approle approle
	# OpenBao runs in this cluster: it asks with its own account.
	say 'bao write auth/kubernetes/management/config kubernetes_host=https://kubernetes.default.svc >/dev/null'
	role kubernetes/management eso-management external-secrets external-secrets \
		eso-management,push-keystone-keys,push-keystone-admin,push-app-credentials
	for cluster in control-plane hypervisor; do
		role "kubernetes/$cluster" "eso-$cluster" external-secrets external-secrets "eso-$cluster"
	done
	role kubernetes/storage eso-storage external-secrets external-secrets eso-storage,push-ceph-keys
	role kubernetes/management keystone-db keystone-db-creds '*' keystone-db-dynamic
	say 'bao write auth/approle/role/provisioner token_policies=ci-cd-provisioner token_ttl=1h token_max_ttl=4h' \
		'secret_id_ttl=8760h >/dev/null'
)
store <<<"$commands"
say 'logins and roles are set'
