#!/usr/bin/env bash
# Configures OpenBao to create database users for the Keystone of a ControlPlane,
# one per request for database/mariadb/creds/keystone-NAMESPACE.
#
# Usage: setup-database-tenant.sh NAMESPACE CONTROLPLANE
# Environment: see lib.sh; DB_CREDS_DEFAULT_TTL (48h), DB_CREDS_MAX_TTL (72h).
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_tools kubectl jq

if (($# != 2)); then
	echo "usage: $0 NAMESPACE CONTROLPLANE" >&2
	exit 2
fi
namespace=$1 controlplane=$2 name=keystone-$1

object=$(kubectl -n "$namespace" get controlplanes.c5c3.io "$controlplane" -o json) ||
	fail "there is no ControlPlane $namespace/$controlplane"
server=$(jq -r '.spec.infrastructure.database.clusterRef.name // empty' <<<"$object")
database=$(jq -r '.spec.infrastructure.database.database // empty' <<<"$object")
[[ -n $server ]] || fail "ControlPlane $namespace/$controlplane uses a database of somebody else's: OpenBao has no root there"

mariadb=$(kubectl -n "$namespace" get mariadbs.k8s.mariadb.com "$server" -o json) ||
	fail "there is no MariaDB $namespace/$server yet: wait until InfrastructureReady of the ControlPlane is True"
secret=$(jq -r '.spec.rootPasswordSecretKeyRef.name // empty' <<<"$mariadb")
key=$(jq -r '.spec.rootPasswordSecretKeyRef.key // empty' <<<"$mariadb")
[[ -n $secret && -n $key ]] ||
	fail "MariaDB $namespace/$server does not name the Secret of its root yet: mariadb-operator fills it in"

authority=
if [[ $(jq -r '.spec.tls.required // false' <<<"$mariadb") == true ]]; then
	authority=$(kubectl -n "$namespace" get secret "$server-ca-bundle" -o 'jsonpath={.data.ca\.crt}' | base64 -d)
fi

# The password is passed on standard input.
connection=$(kubectl -n "$namespace" get secret "$secret" -o json |
	jq --arg key "$key" --arg ca "$authority" --arg url "{{username}}:{{password}}@tcp($server.$namespace.svc:3306)/" --arg role "$name" '{
		plugin_name: "mysql-database-plugin", connection_url: $url, allowed_roles: [$role],
		username: "root", password: (.data[$key] | @base64d)} + if $ca == "" then {} else {tls_ca: $ca} end')

role=$(jq -n --arg connection "$name" --arg database "$database" \
	--arg ttl "${DB_CREDS_DEFAULT_TTL:-48h}" --arg max "${DB_CREDS_MAX_TTL:-72h}" '{
	db_name: $connection, default_ttl: $ttl, max_ttl: $max,
	creation_statements: [
		"CREATE USER '\''{{name}}'\''@'\''%'\'' IDENTIFIED BY '\''{{password}}'\''",
		"GRANT ALL PRIVILEGES ON `\($database)`.* TO '\''{{name}}'\''@'\''%'\''"],
	revocation_statements: ["DROP USER IF EXISTS '\''{{name}}'\''@'\''%'\''"]}')

store <<END
bao write database/mariadb/config/$name - >/dev/null <<'JSON'
$connection
JSON
bao write database/mariadb/roles/$name - >/dev/null <<'JSON'
$role
JSON
END
say "database/mariadb/creds/$name makes users of $database in $server"
