##@ End-to-end tests

# The suites to run: folders below tests/e2e, such as "keystone/smoke", or "c5c3"
# for all suites of an operator. A name without an operator, such as "gateway",
# selects the suites of that name of all operators. By default all suites run. SUITE
# is an alias for a single suite.
SUITE ?=
SUITES ?= $(SUITE)
# The number of concurrent suites. On two cores four are too many: probes and DNS
# queries time out.
E2E_PARALLEL ?= 3
# Further arguments for chainsaw test, as in: make e2e E2E_FLAGS='--fail-fast'
E2E_FLAGS ?=
E2E_CORE ?= false
# true: fail if the cluster lacks something that a suite requires. Otherwise such
# suites are skipped, unless they are named.
E2E_COMPLETE ?= false
# The release of the Keystones that suites make without saying which: 2025.1, 2026.2 or 2022.2.
E2E_RELEASE ?= 2025.1
# A part of the suites: 2/3 is the second of three.
SHARD ?=

E2E_REPORTS := $(CACHE)/e2e
E2E_LOADGEN := $(CACHE)/images/loadgen.tar
E2E_KUBECONFIG ?= $(ROOT)/kubeconfig

# The suites look up kubectl in PATH.
.PHONY: e2e
e2e: $(BIN)/chainsaw $(BIN)/kubectl $(E2E_LOADGEN) helm-deps kubectl-forge ## Run the end-to-end suites, or some (SUITE=smoke, SUITES="scale events"), or a part of them (SHARD=1/3), against the cluster of quickstart.
	@BIN='$(BIN)' KUBECONFIG='$(E2E_KUBECONFIG)' KUBECACHEDIR='$(CACHE)/kubectl' REPORTS='$(E2E_REPORTS)' \
		PARALLEL='$(E2E_PARALLEL)' LOADGEN='$(E2E_LOADGEN)' CORE='$(E2E_CORE)' COMPLETE='$(E2E_COMPLETE)' SHARD='$(SHARD)' \
		RELEASE='$(E2E_RELEASE)' \
		hack/e2e/run.sh $(SUITES) -- $(E2E_FLAGS)

.PHONY: e2e-core
e2e-core: ## Run the end-to-end suites that every change has to pass.
	@$(MAKE) e2e E2E_CORE=true

.PHONY: e2e-controlplane
e2e-controlplane: ## Run the end-to-end suites of the ControlPlane.
	@$(MAKE) e2e SUITES=c5c3

.PHONY: e2e-operator-upgrade
e2e-operator-upgrade: ## Install, upgrade, roll back and uninstall the charts under load.
	@$(MAKE) e2e SUITES=c5c3/chart-lifecycle

# The tests that make tempest runs: short, or full, which also has a suite for other releases.
SELECTION ?= short
RELEASE ?= 2025.1

.PHONY: tempest
tempest: ## Run OpenStack's own tests against a Keystone of their own (SELECTION=full RELEASE=2026.2: all of them, with that release).
	@case '$(SELECTION) $(RELEASE)' in 'short 2025.1' | 'full '*) ;; \
		*) echo 'the short selection is for RELEASE=2025.1, others need SELECTION=full' >&2; exit 2;; esac
	@$(MAKE) e2e SUITES='keystone/tempest$(if $(filter full,$(SELECTION)),-full/$(RELEASE))'
	@tail -n 1 '$(E2E_REPORTS)/tempest.txt'

.PHONY: chainsaw-lint
chainsaw-lint: e2e-scripts $(BIN)/chainsaw ## Check the end-to-end suites against Chainsaw's schemas, and their scripts.
	@$(BIN)/chainsaw lint configuration --file tests/e2e/chainsaw.yaml
	@find tests/e2e -name chainsaw-test.yaml -print0 | xargs -0 -n1 $(BIN)/chainsaw lint test --file

.PHONY: e2e-scripts
e2e-scripts: ## Fail if a script of an end-to-end suite continues after a failed command, or a wait is too short for a busy machine.
	@hack/tools/install-debian-packages.sh test
	@cd hack/e2e && python3 -B -m unittest --quiet test_commands test_leaks test_lint_scripts test_lint_timeouts test_rbac test_record test_shard test_summary
	@hack/e2e/lint_scripts.py tests/e2e
	@hack/e2e/lint_timeouts.py tests/e2e
