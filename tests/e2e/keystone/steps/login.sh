# Logs in at the provider "login", as the OpenStack client and as a browser do, with OpenID Connect or SAML. Bash runs
# it with a function and its arguments, or reads it for its functions. A browser's cookies are in /tmp.
host=${OS_AUTH_URL#http://}
host=${host%%:*}
dashboard=https://dashboard.example.com/auth/websso/
realms=https://login.${host#keystone.}:8443/realms
login_at() { echo "$OS_AUTH_URL/auth/OS-FEDERATION/identity_providers/$1/protocols/$2/websso"; }
websso() { echo "$(login_at "$1" openid)?origin=$dashboard"; }
mellon() { echo "$(login_at "$1" saml2)/mellon/$2"; }
bearer() { echo "$OS_AUTH_URL/OS-FEDERATION/identity_providers/$1/protocols/openid/auth"; }

# as REALM USER ARGUMENT... runs the OpenStack client as that user, in the project "research".
as() {
	env -u OS_USER_DOMAIN_NAME OS_AUTH_TYPE=v3oidcpassword OS_IDENTITY_PROVIDER="$1" OS_PROTOCOL=openid \
		OS_DISCOVERY_ENDPOINT="$realms/$1/.well-known/openid-configuration" OS_CLIENT_ID=openstack OS_CLIENT_SECRET="$KEPT" \
		OS_USERNAME="$2" OS_PASSWORD="$KEPT" OS_PROJECT_NAME=research OS_PROJECT_DOMAIN_NAME=Default OS_CACERT=/scripts/ca.crt \
		openstack "${@:3}"
}

# with_token REALM TOKEN ARGUMENT... does the same with an access token.
with_token() {
	env -u OS_USER_DOMAIN_NAME -u OS_USERNAME -u OS_PASSWORD OS_AUTH_TYPE=v3oidcaccesstoken OS_IDENTITY_PROVIDER="$1" OS_PROTOCOL=openid \
		OS_ACCESS_TOKEN="$2" OS_PROJECT_NAME=research OS_PROJECT_DOMAIN_NAME=Default openstack "${@:3}"
}

# token REALM CLIENT USER prints an access token.
token() {
	curl --silent --show-error --fail --cacert /scripts/ca.crt --data grant_type=password --data-urlencode "username=$3" \
		--data-urlencode "password=$KEPT" --data "client_id=$2" --data-urlencode "client_secret=$KEPT" "$realms/$1/token" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])'
}

# status REALM TOKEN prints what Keystone answers to an access token.
status() {
	curl --silent --show-error --output /dev/null --write-out '%{http_code}' --header "Authorization: Bearer $2" --data '' "$(bearer "$1")"
}

# refused CURL-ARGUMENT... fails if a request with the claims of a user as headers logs somebody in.
issuer=$realms/staff
refused() {
	curl --silent --show-error --path-as-is --dump-header /tmp/headers --output /dev/null --header "OIDC-iss: $issuer" \
		--header "OIDC_iss: $issuer" --header "OIDC-ISS: $issuer" --header 'OIDC-preferred_username: ann' \
		--header 'OIDC-username: ann' --header 'OIDC-email: ann@example.org' --header 'OIDC-groups: cloud' \
		--header 'REMOTE_USER: ann' --header 'Remote-User: ann' "$@"
	! grep --ignore-case --quiet -e '^x-subject-token:' -e '^HTTP/[0-9.]* 2' /tmp/headers
}

# visit CURL-ARGUMENT... prints the status of a page and where it sends the browser.
visit() {
	curl --silent --show-error --cacert /scripts/ca.crt --cookie /tmp/cookies --cookie-jar /tmp/cookies --output /tmp/page \
		--write-out '%{http_code} %{redirect_url}\n' "$@"
}

# at ADDRESS CURL-ARGUMENT... visits a page of the Keystone pod with that address.
at() { visit --resolve "$host:5000:$1" "${@:2}"; }

# sent STATUS WHERE VISIT... fails unless a visit sends the browser there. It remembers the URL.
sent() {
	local answer status location
	answer=$("${@:3}")
	read -r status location <<<"$answer"
	if [[ $status != "$1" || $location != "$2"* ]]; then
		echo "the browser is sent to ${location%%\?*} with status $status, instead of to $2" >&2
		return 1
	fi
	echo "$location" >/tmp/location
}

# start REALM ADDRESS begins a login, which leads to the provider.
start() { sent 302 "$realms/$1/authorize?" at "$2" "$(websso "$1")"; }

# aside REALM ADDRESS begins another login in the same browser, which also leads to the provider, and does not go on with it.
aside() { [[ $(at "$2" "$(websso "$1")") == "302 $realms/$1/authorize?"* ]]; }

# log_in USER fills in the form of the provider, which leads back to Keystone.
log_in() {
	[ "$(visit "$(cat /tmp/location)")" = '200 ' ]
	grep --quiet 'name="password"' /tmp/page
	sent 303 "$OS_AUTH_URL/" visit --data-urlencode "username=$1" --data-urlencode "password=$KEPT" "$(cat /tmp/location)"
}

# come_back REALM ADDRESS brings the code to Keystone, which leads to the page that the login began with.
come_back() { sent 302 "$(websso "$1")" at "$2" "$(cat /tmp/location)"; }

# come_back_in_vain ADDRESS does the same, and fails if Keystone accepts the code.
come_back_in_vain() { [[ $(at "$1" "$(cat /tmp/location)") == [45]* ]]; }

# finish ADDRESS opens that page, and checks that it brings the token of the user "ann" to the dashboard.
finish() {
	[ "$(at "$1" "$(cat /tmp/location)")" = '200 ' ]
	welcomed ann staff
}

# welcomed USER DOMAIN checks that the page brings the token of that user to the dashboard.
welcomed() {
	grep --quiet "action=\"$dashboard\"" /tmp/page
	field token
	curl --silent --show-error --fail --header "X-Auth-Token: $(cat /tmp/token)" --header "X-Subject-Token: $(cat /tmp/token)" \
		"$OS_AUTH_URL/auth/tokens" |
		python3 -c 'import json, sys; user = json.load(sys.stdin)["token"]["user"]; print(user["name"], user["domain"]["name"])' |
		grep --line-regexp "$1 $2"
}

# field NAME stores the value of a field of the page.
field() {
	sed -n "s/.*name=\"$1\" value=\"\([^\"]*\)\".*/\1/p" /tmp/page |
		python3 -c 'import html, sys; print(html.unescape(sys.stdin.read().strip()), end="")' >"/tmp/$1"
}

# with_role checks that the user of that token has a role in the project "research".
with_role() {
	env -u OS_USER_DOMAIN_NAME -u OS_USERNAME -u OS_PASSWORD OS_AUTH_TYPE=v3token OS_TOKEN="$(cat /tmp/token)" \
		OS_PROJECT_NAME=research OS_PROJECT_DOMAIN_NAME=Default openstack token issue -f value -c project_id
}

# start_saml REALM ADDRESS begins a login with SAML, which leads to the provider.
start_saml() {
	sent 303 "$(mellon "$1" login)?" at "$2" "$(login_at "$1" saml2)?origin=$dashboard"
	sent 303 "$realms/$1/saml/sso?" at "$2" "$(cat /tmp/location)"
}

# log_in_saml USER [PATH] fills in the form of the provider, which leads back to Keystone with an assertion. The path is
# "forged" for an assertion that somebody else has signed.
log_in_saml() {
	local form
	form=$(sed "s|/saml/sso?|/saml/${2:-sso}?|" /tmp/location)
	# The provider gets the metadata of Keystone. The node may send it to a pod that is gone.
	until [ "$(visit "$form")" = '200 ' ]; do sleep 1; done
	[ "$(visit --data-urlencode "username=$1" --data-urlencode "password=$KEPT" "$form")" = '200 ' ]
	field SAMLResponse
	field RelayState
}

# present REALM ADDRESS [STATE] brings the assertion to Keystone, with another RelayState if one is given.
present() {
	at "$2" --data-urlencode SAMLResponse@/tmp/SAMLResponse --data-urlencode "RelayState=${3-$(cat /tmp/RelayState)}" \
		"$(mellon "$1" postResponse)"
}

# arrive REALM ADDRESS USER does the same, and checks that Keystone logs the user in.
arrive() {
	[ "$(present "$1" "$2")" = '200 ' ]
	welcomed "$3" "$1"
}

# present_in_vain REALM ADDRESS [STATE] does the same, and fails if Keystone accepts the assertion.
present_in_vain() { [[ $(present "$@") == 4* ]]; }

# forget deletes the cookies.
forget() { rm -f /tmp/cookies; }

[ $# -eq 0 ] || "$@"
