##@ End-to-end tests

# One suite, a folder below tests/e2e/keystone, or all of them.
SUITE ?=

E2E_REPORTS := $(CACHE)/e2e
E2E_KUBECONFIG ?= $(ROOT)/kubeconfig

# The suites call kubectl by its name.
.PHONY: e2e
e2e: $(BIN)/chainsaw $(BIN)/kubectl ## Run the end-to-end suites, or one (SUITE=smoke), against the cluster of quickstart.
	@mkdir -p $(E2E_REPORTS)
	@test -e $(E2E_KUBECONFIG) || { echo 'no cluster of this checkout is running: start one with "make quickstart"' >&2; exit 1; }
	@test -d tests/e2e/keystone/$(SUITE) || { echo 'there is no suite "$(SUITE)" below tests/e2e/keystone' >&2; exit 2; }
	@PATH=$(BIN):$$PATH KUBECONFIG=$(E2E_KUBECONFIG) KUBECACHEDIR=$(CACHE)/kubectl NO_PROXY='*' no_proxy='*' \
		$(BIN)/chainsaw test --config tests/e2e/chainsaw.yaml --report-path $(E2E_REPORTS) --no-color --quiet \
		--set-string root=$(ROOT) tests/e2e/keystone/$(SUITE)

.PHONY: chainsaw-lint
chainsaw-lint: $(BIN)/chainsaw ## Check the end-to-end suites against Chainsaw's schemas.
	@$(BIN)/chainsaw lint configuration --file tests/e2e/chainsaw.yaml
	@find tests/e2e -name chainsaw-test.yaml -print0 | xargs -0 -n1 $(BIN)/chainsaw lint test --file
