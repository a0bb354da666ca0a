# A company's directory, whose users can log in to a Keystone. The passwords are made once.
# shellcheck shell=bash
: "${manifests:?}"

namespace=directory-system

deploy() {
	apply -f "$manifests/directory/namespace.yaml"
	ensure_certificates "$namespace" directory slapd-tls
	has_secrets "$namespace" slapd-passwords || passwords | apply -f -
	kubectl kustomize "$manifests/directory" | with_build slapd | apply -f -
}

passwords() {
	printf '{"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "%s", "name": "slapd-passwords"},
		"stringData": {"admin": "%s", "reader": "%s", "user": "%s"}}' \
		"$namespace" "$(new_password)" "$(new_password)" "$(new_password)"
}

await() { await_rollout "$namespace" deployment/slapd; }
