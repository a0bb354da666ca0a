#!/usr/bin/env bash
# Writes the policies in ../policies to OpenBao. Requires setup-auth.sh: one of them
# refers to a login by its accessor.
#
# Usage: setup-policies.sh
# Environment: see lib.sh; STORE_CLUSTER is the prefix of the paths.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=lib.sh
source "$here/lib.sh"
require_tools kubectl jq

logins=$(bao auth list -format=json)

# accessor LOGIN prints the accessor by which policies refer to a login.
accessor() {
	local found
	found=$(jq -r --arg path "$1/" '.[$path].accessor // empty' <<<"$logins")
	[[ -n $found ]] || fail "there is no login at auth/$1: run setup-auth.sh first"
	printf '%s\n' "$found"
}

management=$(accessor kubernetes/management)
control_plane=$(accessor kubernetes/control-plane)

# render FILE prints a policy for this store.
render() {
	sed -e "s|@ACCESSOR@|$management|" -e "s|@CONTROL_PLANE_ACCESSOR@|$control_plane|" ${STORE_CLUSTER:+-e "s#kv-v2/\(data\|metadata\)/#&$STORE_CLUSTER/#"} "$1"
}

for file in "$here"/../policies/*.hcl; do
	printf "bao policy write %s - >/dev/null <<'POLICY'\n%s\nPOLICY\n" "$(basename "$file" .hcl)" "$(render "$file")"
done | store
say 'policies are set'
