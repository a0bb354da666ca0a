# External Secrets: syncs Secrets from and to a secret store.
# shellcheck shell=bash

namespace=external-secrets

deploy() {
	local module
	module=$(module_dir external-secrets github.com/external-secrets/external-secrets)
	apply -f "$module/deploy/crds/bundle.yaml"
	install_chart external-secrets "$namespace" "$module/deploy/charts/external-secrets"
}

await() { await_rollout "$namespace" deployment/external-secrets; }
