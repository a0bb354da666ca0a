# What the bootstrap scripts share: the address of OpenBao, and how to call its
# client in its pod. Sourced with "set -euo pipefail" in force.
# shellcheck shell=bash

: "${OPENBAO_NAMESPACE:=openbao-system}"
: "${OPENBAO_POD:=openbao-0}"
: "${BAO_ADDR:=https://127.0.0.1:8200}"
: "${VAULT_CACERT:=/openbao/tls/ca.crt}"
: "${VAULT_CLIENT_CERT:=/openbao/client-tls/tls.crt}"
: "${VAULT_CLIENT_KEY:=/openbao/client-tls/tls.key}"
# The prefix of every path, like the value cluster.name of our charts.
: "${STORE_CLUSTER:=}"

# The Secret with the output of "operator init", for non-production clusters.
keys_secret=openbao-init-keys
keys_key=init-output

say() { printf '%s\n' "$*"; }

fail() {
	printf 'error: %s\n' "$*" >&2
	exit 1
}

require_tools() {
	local tool
	for tool; do
		command -v "$tool" >/dev/null || fail "$tool is not installed"
	done
}

in_pod() {
	local pod=$1
	shift
	kubectl -n "$OPENBAO_NAMESPACE" exec -i "$pod" -- env "BAO_ADDR=$BAO_ADDR" \
		"VAULT_CACERT=$VAULT_CACERT" "VAULT_CLIENT_CERT=$VAULT_CLIENT_CERT" "VAULT_CLIENT_KEY=$VAULT_CLIENT_KEY" "$@"
}

# keys FILTER prints a part of the output of "operator init", or nothing.
keys() {
	kubectl -n "$OPENBAO_NAMESPACE" get secret "$keys_secret" --ignore-not-found -o json |
		jq -r --arg key "$keys_key" "(.data[\$key] // empty) | @base64d | fromjson | $1 // empty"
}

# token prints the token to use: BAO_TOKEN, or the root token in the Secret.
token() {
	local found=${BAO_TOKEN:-}
	[[ -n $found ]] || found=$(keys .root_token)
	[[ -n $found ]] || fail "set BAO_TOKEN to a token that may administer OpenBao: the Secret" \
		"$OPENBAO_NAMESPACE/$keys_secret has none"
	printf '%s\n' "$found"
}

# store runs the shell script on standard input in the pod, as administrator, until
# a command fails. The script never appears in the arguments of a process, neither
# here nor in the pod, and uses a single connection. Commands that read standard
# input read from the script.
store() {
	local token
	token=$(token)
	{
		printf '%s\nset -eu\n' "$token"
		cat
	} | in_pod "$OPENBAO_POD" sh -c 'IFS= read -r BAO_TOKEN && export BAO_TOKEN && exec sh -s'
}

# bao runs a command of the client.
bao() { store <<<"bao ${*@Q}"; }

# path PATH prints the path of a secret, prefixed with the name of the cluster.
path() { printf '%s\n' "${STORE_CLUSTER:+$STORE_CLUSTER/}$1"; }

random_secret() { od -An -vtx1 -N32 /dev/urandom | tr -d ' \n'; }
