#!/usr/bin/env bash
# Initialises OpenBao if necessary, and unseals every sealed server with the keys in
# the Secret openbao-init-keys. In production, store the keys elsewhere: unseal
# manually, delete the Secret and set BAO_TOKEN for the other scripts.
#
# Usage: init-unseal.sh
# Environment: see lib.sh; POD_TIMEOUT, seconds that a server may take to answer (300).
set -euo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
require_tools kubectl jq

shares=5 threshold=3

# status POD prints the state of a server as JSON. The exit code of the client is 2
# for a sealed server, and 1 for one that does not answer yet.
status() {
	local answer code=0
	answer=$(in_pod "$1" bao status -format=json </dev/null 2>/dev/null) || code=$?
	((code == 0 || code == 2)) || return 1
	printf '%s\n' "$answer"
}

await() {
	local until=$((SECONDS + ${POD_TIMEOUT:-300})) answer
	until answer=$(status "$1"); do
		((SECONDS < until)) || fail "$1 in $OPENBAO_NAMESPACE does not answer: kubectl -n $OPENBAO_NAMESPACE logs $1"
		sleep 2
	done
	printf '%s\n' "$answer"
}

# keep_keys stores the output of "operator init". That output is printed only once,
# so if the Secret cannot be written it goes to a file.
keep_keys() {
	local output=$1 file
	if printf '%s' "$output" | jq -Rs --arg key "$keys_key" '{data: {($key): @base64}}' |
		kubectl -n "$OPENBAO_NAMESPACE" patch secret "$keys_secret" --type=merge --patch-file=/dev/stdin >/dev/null; then
		return
	fi
	file=$(umask 077 && mktemp "${TMPDIR:-/tmp}/openbao-init-keys.XXXXXX")
	printf '%s' "$output" >"$file"
	fail "the Secret $OPENBAO_NAMESPACE/$keys_secret could not be written; the keys are in $file, keep them"
}

# initialise creates the keys of an empty store and keeps them.
initialise() {
	[[ -z $(keys .root_token) ]] || fail "OpenBao is empty, while the Secret $OPENBAO_NAMESPACE/$keys_secret has keys" \
		"of an earlier one: restore its data, or delete the Secret to begin anew"
	# Make sure that the Secret can be written before there are keys to lose.
	kubectl create secret generic "$keys_secret" -n "$OPENBAO_NAMESPACE" --dry-run=client -o json |
		kubectl apply --server-side -f - >/dev/null
	local output
	output=$(in_pod "$OPENBAO_POD" bao operator init -format=json "-key-shares=$shares" "-key-threshold=$threshold" </dev/null)
	keep_keys "$output"
	say "initialised; the keys are in the Secret $OPENBAO_NAMESPACE/$keys_secret"
}

# unseal POD passes as many keys as the threshold requires, on standard input.
unseal() {
	local pod=$1 count=0 key
	while read -r key; do
		printf '%s' "$key" | in_pod "$pod" bao write -format=json sys/unseal key=- >/dev/null
		count=$((count + 1))
		((count < threshold)) || break
	done < <(keys '.unseal_keys_b64[]')
	((count == threshold)) || fail "$pod is sealed and the Secret $OPENBAO_NAMESPACE/$keys_secret has no keys: unseal it by hand"
	[[ $(status "$pod" | jq -r .sealed) == false ]] || fail "$pod stays sealed: the keys are not those of this OpenBao"
	say "unsealed $pod"
}

# After joining, a server takes a moment to learn whether it is initialised.
open() {
	local pod=$1 state
	state=$(await "$pod")
	if [[ $pod == "$OPENBAO_POD" && $(jq -r .initialized <<<"$state") == false ]]; then
		initialise
		state=$(await "$pod")
	fi
	local until=$((SECONDS + ${POD_TIMEOUT:-300}))
	while [[ $(jq -r .initialized <<<"$state") == false ]]; do
		((SECONDS < until)) || fail "$pod does not join $OPENBAO_POD: kubectl -n $OPENBAO_NAMESPACE logs $pod"
		sleep 2
		state=$(await "$pod")
	done
	[[ $(jq -r .sealed <<<"$state") == false ]] || unseal "$pod"
}

mapfile -t pods < <(kubectl -n "$OPENBAO_NAMESPACE" get pods -l app.kubernetes.io/name=openbao \
	--field-selector=status.phase=Running -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' | sort)
[[ " ${pods[*]} " == *" $OPENBAO_POD "* ]] || fail "$OPENBAO_POD is not running in $OPENBAO_NAMESPACE"
open "$OPENBAO_POD"
for pod in "${pods[@]}"; do
	[[ $pod == "$OPENBAO_POD" ]] || open "$pod"
done
