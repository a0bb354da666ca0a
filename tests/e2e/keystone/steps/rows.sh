#!/usr/bin/env bash
# Creates what people keep in a Keystone for long, or checks that it still works. An
# upgrade in between has to preserve it.
#
# Usage: rows.sh create|check
# It logs in as the administrator in the environment. The last line that "create" prints
# is what "check" expects in the variable KEPT.
set -euo pipefail

create() {
	local password ec2 trust token
	password=$(od -An -vtx1 -N16 /dev/urandom | tr -d ' \n')
	token=$(openstack token issue -f value -c id)
	trust=$(delegate "$token" "$(openstack user create --password "$password" trustee -f value -c id)")
	openstack ec2 credentials create >/dev/null
	ec2=$(openstack ec2 credentials list -f value -c Access -c Secret)
	openstack application credential create --role admin --secret "$password" \
		--access-rules '[{"service": "identity", "method": "GET", "path": "/v3/projects"}]' limited >/dev/null
	echo "$token $ec2 $trust $password"
}

# delegate TOKEN USER prints the trust that gives a user the administrator's role on the
# token's project. The client of 2025.1 cannot create one: it sends the roles as strings.
delegate() {
	openstack token issue -f json -c user_id -c project_id |
		jq --arg trustee "$2" '{trust: {impersonation: false, trustor_user_id: .user_id, trustee_user_id: $trustee,
			project_id, roles: [{name: "admin"}]}}' |
		curl --fail --silent --show-error --header "X-Auth-Token: $1" --header 'Content-Type: application/json' --data @- \
			"$OS_AUTH_URL/OS-TRUST/trusts" | jq --raw-output .trust.id
}

# status TOKEN PATH prints the code with which the API answers a GET.
status() {
	printf 'X-Auth-Token: %s\n' "$1" | curl --silent --output /dev/null --write-out '%{http_code}' --header @- "$OS_AUTH_URL/$2"
}

# expect WHAT ACTUAL WANTED fails if the values differ, without printing them.
expect() {
	[[ $2 == "$3" ]] || { echo "$1 does not work" >&2; return 1; }
	echo "$1 works"
}

check() {
	local token access secret trust password limited delegated
	read -r token access secret trust password <<<"$KEPT"
	expect 'the token' "$(status "$token" projects)" 200
	expect 'the EC2 credential' "$(openstack ec2 credentials show "$access" -f value -c secret)" "$secret"
	limited=$(env -u OS_PROJECT_NAME -u OS_PROJECT_DOMAIN_NAME -u OS_PASSWORD OS_AUTH_TYPE=v3applicationcredential \
		OS_APPLICATION_CREDENTIAL_NAME=limited OS_APPLICATION_CREDENTIAL_SECRET="$password" openstack token issue -f value -c id)
	expect 'what the access rule permits' "$(status "$limited" projects)" 200
	expect 'the refusal of anything else' "$(status "$limited" users)" 401
	delegated=$(env -u OS_PROJECT_NAME -u OS_PROJECT_DOMAIN_NAME OS_USERNAME=trustee OS_PASSWORD="$password" \
		OS_TRUST_ID="$trust" openstack token issue -f value -c id)
	expect 'the trust' "$(status "$delegated" projects)" 200
}

"$1"
