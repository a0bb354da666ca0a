##@ Release

# The folder of a release's files.
RELEASE ?= $(CACHE)/release
RELEASE_TOOLS := $(addprefix $(BIN)/,helm crane cyclonedx-gomod go-licenses)

.PHONY: release
release: $(RELEASE_TOOLS) helm-deps ## Build all files of the release in .cache/release, with the version in VERSION; publishes nothing.
	@hack/tools/install-debian-packages.sh test
	@BIN='$(BIN)' hack/release/release.sh '$(RELEASE)'

.PHONY: verify-release
verify-release: $(RELEASE_TOOLS) ## Build the release of HEAD twice, in different places, and fail if the results differ.
	@BIN='$(BIN)' hack/release/verify.sh

# The registry of the images; charts are stored below "charts" in it.
REGISTRY ?= ghcr.io/c5c3

.PHONY: publish
publish: $(BIN)/crane $(BIN)/helm ## Push the images and charts of "make release", if the commit has the version's tag (REGISTRY=ghcr.io/c5c3).
	@BIN='$(BIN)' REGISTRY='$(REGISTRY)' hack/release/publish.sh '$(RELEASE)'

.PHONY: next-version
next-version: ## After a release: keep its charts for upgrade tests and start the next version (NEXT=1.2.3).
	@hack/release/next.sh '$(RELEASE)' '$(NEXT)'
	@$(MAKE) generate

.PHONY: test-release
test-release: ## Test the release scripts.
	@hack/tools/install-debian-packages.sh test
	@cd hack/release && python3 -B -m unittest --quiet test_changelog test_configuration test_krew test_sbom

.PHONY: licenses
licenses: $(BIN)/go-licenses ## Fail if a program contains a module whose license hack/licenses does not allow.
	@hack/licenses/check.sh $(BIN)/go-licenses $(addprefix operators/,$(PROGRAMS)) $(wildcard kubectl-forge)
