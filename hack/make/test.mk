##@ Tests

# The binaries of the envtest control plane. A developer's own folder takes
# precedence, but such folders lack kube-controller-manager, which the tests need
# for garbage collection.
KUBEBUILDER_ASSETS ?= $(BIN)
export KUBEBUILDER_ASSETS
ENVTEST_BINARIES := $(BIN)/kube-controller-manager \
	$(if $(filter $(BIN),$(KUBEBUILDER_ASSETS)),$(addprefix $(BIN)/,kube-apiserver etcd))

.PHONY: envtest-binaries
envtest-binaries: $(ENVTEST_BINARIES)

# Arguments for go test, as in: make test-unit GO_TEST_FLAGS='-run Fernet -v'
GO_TEST_FLAGS ?=

# $(call digest,PATHSPECS) is a digest of the files in the work tree.
digest = $(shell git ls-files -z -co --exclude-standard -- $(1) | LC_ALL=C sort -z | xargs -0 -r sha256sum 2>/dev/null | sha256sum | cut -c1-16)

# A digest of the list of files and of the contents of the makefiles and of the
# pages outside docs.
checkout_digest = $(shell git ls-files -co --exclude-standard | LC_ALL=C sort | cat - Makefile hack/make/*.mk *.md hack/*/README.md workshop/README.md | sha256sum | cut -c1-16)

# Go caches the result of a test until a variable, or a file of its own module, that
# the test has read changes. These variables represent the files outside its module.
TEST_INPUTS = \
	FORGE_FILES_CHECKOUT=$(checkout_digest) \
	FORGE_FILES_DEPLOY=$(call digest,deploy) \
	FORGE_FILES_DOCS=$(call digest,docs) \
	FORGE_FILES_HACK=$(call digest,'hack/*_test.go') \
	FORGE_FILES_HACK_DEPLOY_INFRA_SH=$(call digest,hack/deploy-infra.sh) \
	FORGE_FILES_HACK_KIND_CONFIG_YAML=$(call digest,hack/kind-config.yaml) \
	FORGE_FILES_HACK_QUICKSTART=$(call digest,hack/quickstart) \
	FORGE_FILES_HACK_TOOLS=$(call digest,hack/tools/kubernetes hack/tools/custom-resources hack/tools/operators.sh) \
	FORGE_FILES_INTERNAL=$(call digest,internal) \
	FORGE_FILES_KUBECTL_FORGE=$(call digest,kubectl-forge) \
	FORGE_FILES_PROJECT=$(call digest,PROJECT) \
	FORGE_FILES_OPERATORS=$(call digest,operators) \
	FORGE_FILES_OPERATORS_SHARED=$(call digest,operators/shared) \
	FORGE_FILES_TESTS=$(call digest,tests) \
	FORGE_FILES_WORKSHOP=$(call digest,workshop/deploy 'workshop/*_test.go') \
	$(foreach operator,$(PROGRAMS),FORGE_FILES_OPERATORS_$(shell tr a-z A-Z <<<$(operator))=$(call digest,$(addprefix operators/$(operator)/,config dashboards helm)))

# Tests against an API server are partly idle: two packages more than there are cores
# keep the cores busy.
GO_TEST_PACKAGES := $(shell echo $$(($$(nproc) + 2)))

# The tests and their API servers produce much garbage, and rare collections save CPU time. With
# the limit, which is that of each process, all of them fit into 6 GiB. An API server with the objects
# of all tests of c5c3 needs 700 MiB: a limit below that makes it collect garbage all the time.
GO_TEST = $(TEST_INPUTS) GOGC=300 GOMEMLIMIT=1GiB go test -vet=off -p=$(GO_TEST_PACKAGES) -parallel=4 -tags=integration -timeout=40m

# With the flags of hack/tools/build.sh the tests share compiled packages with the
# API server and the operators' images.
GO_TEST_QUICK = CGO_ENABLED=0 $(GO_TEST) -trimpath -gcflags=all=-dwarf=false -ldflags='-s -w' -short

# Packages that start a control plane have the build tag "integration" or import the
# package that starts it.
INTEGRATION_PACKAGES = $(shell git ls-files -co --exclude-standard '*_test.go' \
	| xargs -r grep -lE '^//go:build integration|testutil/envtest"' | xargs -r -n1 dirname | sort -u | sed 's,^,./,')

# Several modules are tested at the same time.
test: GO_TEST_PACKAGES := $(shell nproc)

.PHONY: test
test: $(ENVTEST_BINARIES) ## Run the unit tests and the tests against an API server (envtest) of all modules.
	@hack/tools/test-modules.sh '$(GO_MODULES)' env $(GO_TEST_QUICK) $(GO_TEST_FLAGS)

# Two gates at a time, since many of them use a single core. What several of them need is built
# before. The longest come first.
.PHONY: check
check: install-test-deps helm-deps ## Run every gate for a change that needs no cluster: tests with the race detector, linters, generated files, charts, documentation.
	+@MAKE='$(MAKE)' hack/tools/stages.sh 2 test-race verify-generated lint alerts-test flux-test helm-lifecycle \
		fuzz docs-build govulncheck test-consumer licenses test-python test-release helm-test helm-lint \
		chainsaw-lint shellcheck verify-versions verify-invalid-cr-fixtures

.PHONY: install-test-deps
install-test-deps: $(ENVTEST_BINARIES) $(addprefix $(BIN)/,golangci-lint controller-gen helm chainsaw govulncheck) ## Build and install the dependencies of test and check.
	@hack/tools/install-debian-packages.sh test alerts

.PHONY: test-unit
test-unit: ## Run the unit tests of all modules.
	@$(subst -tags=integration,,$(GO_TEST_QUICK)) $(GO_TEST_FLAGS) $(GO_PATTERNS)

GO_TEST_RACE = CGO_ENABLED=1 $(GO_TEST) -ldflags=-w -race

# The packages that synchronize goroutines themselves, or start some.
LOCKING_PACKAGES = $(shell git grep -lE '^\s+"sync"$$|\bgo func|\.Go\b' -- '*.go' ':!hack' ':!workshop/secretstore' | xargs -n1 dirname | sort -u | sed 's,^,./,')

# Other unit tests are left out, since that code runs concurrently only against an API server.
# Of those tests the controller's of the smallest operator pass through most of the shared library,
# and the others take longer than the rest of make check. Tests of the tools and of the quick start's
# secret store are about scripts and files.
.PHONY: test-race
test-race: $(ENVTEST_BINARIES) ## Run the unit tests of packages that synchronize goroutines, and those of one operator's controller against an API server, with the race detector.
	@hack/tools/install-debian-packages.sh test
	@$(subst -tags=integration,,$(GO_TEST_RACE)) -short $(GO_TEST_FLAGS) $(LOCKING_PACKAGES)
	@$(GO_TEST_RACE) -short $(GO_TEST_FLAGS) ./operators/placement/internal/controller

# Includes all positions of the crash walks, of which the other targets only try the
# first of each kind, and what each service has from the shared library.
.PHONY: test-full
test-full: $(ENVTEST_BINARIES) ## Run all tests in full and with the race detector, as before a release.
	@hack/tools/install-debian-packages.sh test
	@$(GO_TEST_RACE) $(GO_TEST_FLAGS) $(GO_PATTERNS)

.PHONY: test-integration
test-integration: $(ENVTEST_BINARIES) ## Run the tests against a real API server (envtest).
	@$(GO_TEST_QUICK) $(GO_TEST_FLAGS) $(INTEGRATION_PACKAGES)

.PHONY: test-common
test-common: $(ENVTEST_BINARIES) ## Run the tests of the shared library.
	@$(GO_TEST_QUICK) $(GO_TEST_FLAGS) ./internal/common/...

.PHONY: test-integration-common
test-integration-common: $(ENVTEST_BINARIES) ## Run the envtest packages of the shared library.
	@$(GO_TEST_QUICK) $(GO_TEST_FLAGS) $(filter ./internal/common/%,$(INTEGRATION_PACKAGES))

comma := ,

# These tests run Helm itself against a test API server.
.PHONY: helm-lifecycle
helm-lifecycle: helm-deps $(ENVTEST_BINARIES) ## Install the last released charts, upgrade, roll back and uninstall, on a test API server.
	@HELM='$(abspath $(BIN))/helm' $(subst -tags=integration,-tags=integration$(comma)helm,$(GO_TEST_QUICK)) -run TestHelm \
		$(addprefix ./operators/,$(OPERATORS))

flux_controllers := source-controller kustomize-controller helm-controller

# These tests run the real controllers of Flux.
.PHONY: flux-test
flux-test: $(addprefix $(BIN)/,$(flux_controllers)) $(ENVTEST_BINARIES) ## Make Flux deploy its manifests, and the charts, from a Git repository to a test API server.
	@FLUX_CONTROLLERS='$(abspath $(BIN))' $(subst -tags=integration,-tags=integration$(comma)flux,$(GO_TEST_QUICK)) -run TestFlux \
		./hack/deploy-infra

OPERATOR ?= keystone

.PHONY: test-operator
test-operator: $(ENVTEST_BINARIES) ## Run the tests of one operator (OPERATOR=keystone).
	@$(GO_TEST_QUICK) $(GO_TEST_FLAGS) ./operators/$(OPERATOR)/...

# How many inputs each fuzz target gets, or for how long ("go test" only runs
# their seeds). A number, since Go reports the end of a short time as a failure
# when the machine is busy.
FUZZTIME ?= 20000x

.PHONY: fuzz
fuzz: ## Fuzz everything that parses or renders (FUZZTIME=1m FUZZ_GUIDED=true for a long run).
	@hack/tools/fuzz.sh $(FUZZTIME)

# Suites of manifests that must be refused.
INVALID_CR := $(wildcard tests/e2e/*/invalid-cr)

# $(call unittest,FOLDERS) runs the Python tests in each folder, in the folder
# itself.
unittest = for folder in $(1); do (cd "$$folder" && python3 -B -m unittest --quiet $$(basename -s .py test_*.py)); done

.PHONY: verify-invalid-cr-fixtures
verify-invalid-cr-fixtures: ## Fail if the manifests of the invalid-cr suites differ from what their generators write.
	@hack/tools/install-debian-packages.sh test
	@for folder in $(INVALID_CR); do python3 -B "$$folder/_generate.py" --check; done
	@$(call unittest,$(INVALID_CR))

.PHONY: test-consumer
test-consumer: ## Test the consumer used by the end-to-end suites of control planes.
	@hack/tools/install-debian-packages.sh test
	@$(call unittest,$(sort $(dir $(wildcard tests/e2e/*/steps/test_consumer.py))))

# Folders of tests of what runs in the pods of services.
POD_TESTS := $(sort $(dir $(wildcard operators/*/internal/controller/files/test_*.py internal/common/*/files/test_*.py)))

.PHONY: test-python
test-python: ## Test the Python modules that travel with the configuration of services, those that measure on a cluster or run OpenStack's own tests there, and the scripts of the local cluster.
	@hack/tools/install-debian-packages.sh test
	@$(call unittest,$(POD_TESTS) $(sort $(dir $(wildcard hack/bench/*/test_*.py hack/kind/test_*.py images/*/test_*.py))))

.PHONY: test-python-images
test-python-images: ## Run those tests of the modules for services with the Python and the libraries of the images that have been built.
	@hack/tools/test-python-images.sh '$(IMAGES_CACHE)' $(POD_TESTS)
