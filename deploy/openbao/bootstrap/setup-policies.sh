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

accessor=$(bao auth list -format=json | jq -r '."kubernetes/management/".accessor // empty')
[[ -n $accessor ]] || fail 'there is no login at auth/kubernetes/management: run setup-auth.sh first'

# render FILE prints a policy for this store.
render() {
	sed -e "s|@ACCESSOR@|$accessor|" ${STORE_CLUSTER:+-e "s#kv-v2/\(data\|metadata\)/#&$STORE_CLUSTER/#"} "$1"
}

for file in "$here"/../policies/*.hcl; do
	printf "bao policy write %s - >/dev/null <<'POLICY'\n%s\nPOLICY\n" "$(basename "$file" .hcl)" "$(render "$file")"
done | store
say 'policies are set'
