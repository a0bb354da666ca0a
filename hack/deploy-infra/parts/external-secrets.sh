# External Secrets: Secrets from a secret store, and into it.
# shellcheck shell=bash

deploy() {
	local module
	module=$(module_dir external-secrets github.com/external-secrets/external-secrets)
	apply -f "$module/deploy/crds/bundle.yaml"
	install_chart external-secrets external-secrets "$module/deploy/charts/external-secrets"
}

await() { await_rollout external-secrets deployment/external-secrets; }
