# The secret store: a stand-in for OpenBao, with its certificates, keys and first
# secrets, and the store object by which External Secrets finds it.
# shellcheck shell=bash
: "${manifests:?}"

namespace=openbao-system

random_hex() { od -An -vtx1 -N32 /dev/urandom | tr -d ' \n'; }

# What "bao operator init" prints when it initialises a store.
init_output() {
	local keys=() i
	for ((i = 0; i < 5; i++)); do
		keys+=("\"$(random_hex | base64 -w0)\"")
	done
	printf '{"root_token": "s.%s", "unseal_threshold": 3, "unseal_keys_b64": [%s]}' \
		"$(random_hex)" "$(IFS=,; echo "${keys[*]}")"
}

ensure_keys() {
	has_secrets "$namespace" openbao-init-keys ||
		init_output | kubectl -n "$namespace" create secret generic openbao-init-keys \
			--from-file=init-output=/dev/stdin >/dev/null
}

deploy() {
	apply -f "$manifests/secretstore/namespace.yaml"
	ensure_certificates "$namespace" secretstore openbao-tls openbao-client-tls eso-openbao-client-tls
	ensure_keys
	kubectl kustomize "$manifests/secretstore" | with_build secretstore | apply -f -
}

bao() { kubectl -n "$namespace" exec -i openbao-0 -- bao "$@"; }

# seed PATH writes the JSON object on standard input, unless there is something.
seed() {
	if bao kv metadata get "kv-v2/$1" </dev/null >/dev/null 2>&1; then
		cat >/dev/null
	else
		bao kv put -cas=0 "kv-v2/$1" -
	fi
}

# Passwords reach the store by standard input, which no process list shows.
seed_secrets() {
	local owner
	printf '{"root-password": "%s"}' "$(random_hex)" | seed infrastructure/mariadb
	printf '{"username": "keystone", "password": "%s"}' "$(random_hex)" | seed openstack/keystone/standalone/db
	for owner in ${KORC_CONTROLPLANES:-openstack/controlplane}; do
		printf '{"password": "%s"}' "$(random_hex)" | seed "bootstrap/$owner-keystone/admin"
		printf '{"username": "keystone", "password": "%s"}' "$(random_hex)" | seed "openstack/keystone/$owner/db"
		bao kv metadata put -custom-metadata=managed-by=external-secrets "kv-v2/bootstrap/$owner-keystone/admin" </dev/null
	done
}

await() {
	await_rollout "$namespace" statefulset/openbao
	retry 30 bao status </dev/null >/dev/null
	seed_secrets
	if kubectl get crd clustersecretstores.external-secrets.io -o name >/dev/null 2>&1; then
		apply -f "$manifests/secretstore/cluster-secret-store.yaml"
		kubectl wait --for=condition=Ready --timeout=2m clustersecretstore/openbao-cluster-store >/dev/null
	fi
}
