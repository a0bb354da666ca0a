# Sets the names and addresses of the two pods of the test's Keystone, and what runs login.sh in the pod of a browser.

browser() { kubectl --namespace "$NAMESPACE" exec browser -- bash -euo pipefail /scripts/login.sh "$@"; }
pods() {
	kubectl --namespace "$NAMESPACE" get pods --selector=app.kubernetes.io/name=keystone \
		--output=jsonpath='{range .items[*]}{.metadata.name} {.status.podIP}{"\n"}{end}'
}

before=$(pods)
[ "$(echo "$before" | wc -l)" = 2 ]
{ read -r first first_address; read -r second second_address; } <<END
$before
END
export first first_address second second_address
