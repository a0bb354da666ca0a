#!/usr/bin/env bash
# Enables missing secret engines of OpenBao.
#
# Usage: setup-secret-engines.sh
# Environment: see lib.sh.
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_tools kubectl jq

# enable PATH TYPE [OPTION]... prints the command that enables an engine, or nothing
# if it is enabled. An engine of another type is an error.
enable() {
	local path=$1 type=$2 present
	shift 2
	present=$(jq -r --arg path "$path/" '.[$path].type // empty' <<<"$engines")
	case $present in
	"$type") ;;
	'') say "bao secrets enable -path=$path $* $type >/dev/null; echo 'enabled $path/'" ;;
	*) fail "at $path/ is an engine of type $present, not $type" ;;
	esac
}

engines=$(bao secrets list -format=json)
missing=$(
	enable kv-v2 kv -version=2
	enable pki pki -max-lease-ttl=87600h
	enable database/mariadb database
)
[[ -z $missing ]] || store <<<"$missing"
