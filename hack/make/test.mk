##@ Tests

# The control plane of the envtest suites. A developer's own wins, but folders
# of that kind lack kube-controller-manager, which collects garbage in them.
KUBEBUILDER_ASSETS ?= $(BIN)
export KUBEBUILDER_ASSETS
ENVTEST_BINARIES := $(BIN)/kube-controller-manager \
	$(if $(filter $(BIN),$(KUBEBUILDER_ASSETS)),$(addprefix $(BIN)/,kube-apiserver etcd kubectl))

# Arguments for go test, as in: make test-unit GO_TEST_FLAGS='-run Fernet -v'
GO_TEST_FLAGS ?=

# The tests wait for an API server more than they compute, and that server and
# they have much garbage and enough memory.
GO_TEST := GOGC=300 go test -parallel=4 -tags=integration

# Suites that start a control plane carry the build tag "integration" or use
# the package that starts it.
INTEGRATION_PACKAGES = $(shell git ls-files -co --exclude-standard '*_test.go' \
	| xargs -r grep -lE '^//go:build integration|testutil/envtest"' | xargs -r -n1 dirname | sort -u | sed 's,^,./,')

.PHONY: test
test: ## Everything that needs no cluster: all tests with the race detector, linters, generated files, charts.
	+@MAKE='$(MAKE)' hack/tools/stages.sh test-tools vet test-race lint shellcheck \
		verify-generated verify-invalid-cr-fixtures test-consumer helm-lint helm-test

.PHONY: test-tools
test-tools: $(ENVTEST_BINARIES) $(addprefix $(BIN)/,golangci-lint controller-gen helm) ## Build and install what the tests need.
	@hack/tools/install-debian-packages.sh test

.PHONY: install-test-deps
install-test-deps: test-tools

.PHONY: test-unit
test-unit: ## Run the unit tests of all modules.
	go test $(GO_TEST_FLAGS) $(GO_PATTERNS)

.PHONY: test-race
test-race: $(ENVTEST_BINARIES) ## Run the unit and envtest tests of all modules with the race detector.
	@hack/tools/install-debian-packages.sh test
	CGO_ENABLED=1 $(GO_TEST) -race -timeout=40m $(GO_TEST_FLAGS) $(GO_PATTERNS)

.PHONY: test-integration
test-integration: $(ENVTEST_BINARIES) ## Run the packages that test against a real API server (envtest).
	$(GO_TEST) -timeout=20m $(GO_TEST_FLAGS) $(INTEGRATION_PACKAGES)

.PHONY: test-common
test-common: $(ENVTEST_BINARIES) ## Run the tests of the shared library.
	$(GO_TEST) -timeout=20m $(GO_TEST_FLAGS) ./internal/common/...

.PHONY: test-integration-common
test-integration-common: $(ENVTEST_BINARIES) ## Run the envtest packages of the shared library.
	$(GO_TEST) -timeout=20m $(GO_TEST_FLAGS) $(filter ./internal/common/%,$(INTEGRATION_PACKAGES))

OPERATOR ?= keystone

.PHONY: test-operator
test-operator: $(ENVTEST_BINARIES) ## Run the tests of one operator (OPERATOR=keystone).
	$(GO_TEST) -timeout=20m $(GO_TEST_FLAGS) ./operators/$(OPERATOR)/...

# How long each fuzz target runs; "go test" tries only their seeds.
FUZZTIME ?= 3s

.PHONY: fuzz
fuzz: ## Fuzz everything that parses or renders (FUZZTIME=1m, FUZZ_GUIDED=true for long runs).
	@hack/tools/fuzz.sh $(FUZZTIME)

INVALID_CR := tests/e2e/keystone/invalid-cr

.PHONY: verify-invalid-cr-fixtures
verify-invalid-cr-fixtures: ## Fail when the manifests of the suite invalid-cr are not what their generator writes.
	@hack/tools/install-debian-packages.sh test
	@python3 -B $(INVALID_CR)/_generate.py --check
	@cd $(INVALID_CR) && python3 -B -m unittest --quiet test_generate

.PHONY: test-consumer
test-consumer: ## Test the consumer of the control planes' end-to-end suites.
	@hack/tools/install-debian-packages.sh test
	@cd tests/e2e/c5c3/steps && python3 -B -m unittest --quiet test_consumer
