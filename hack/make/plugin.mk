##@ kubectl plugin

# The output of "kubectl forge version".
PLUGIN_VERSION ?= dev

# Only the go command knows whether the binary is up to date. The quick start calls
# it by its path; users can run "kubectl forge" if .cache/bin is in their PATH.
.PHONY: kubectl-forge
kubectl-forge: ## Build the kubectl plugin into .cache/bin (PLUGIN_VERSION=v1.2.3).
	@GO_LDFLAGS='-X github.com/c5c3/forge/kubectl-forge/internal/cli.version=$(PLUGIN_VERSION)' \
		$(call build_own,kubectl-forge,kubectl-forge=.)
