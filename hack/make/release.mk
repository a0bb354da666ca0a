##@ Release

# Where the files of a release go.
RELEASE ?= $(CACHE)/release
RELEASE_TOOLS := $(addprefix $(BIN)/,helm ociimage cyclonedx-gomod go-licenses)

.PHONY: release
release: $(RELEASE_TOOLS) helm-deps ## Make all files of the version in VERSION in .cache/release; publishes nothing.
	@hack/tools/install-debian-packages.sh test
	@BIN='$(BIN)' hack/release/release.sh '$(RELEASE)'

.PHONY: verify-release
verify-release: $(RELEASE_TOOLS) ## Fail when the release of HEAD made twice, in different places, is not the same.
	@BIN='$(BIN)' hack/release/verify.sh

# Where images go; charts go to "charts" below it.
REGISTRY ?= ghcr.io/c5c3

.PHONY: publish
publish: $(BIN)/crane $(BIN)/helm ## Push the images and charts of "make release", for a commit with the version's tag (REGISTRY=ghcr.io/c5c3).
	@BIN='$(BIN)' REGISTRY='$(REGISTRY)' hack/release/publish.sh '$(RELEASE)'

.PHONY: next-version
next-version: ## After a release: keep its charts for upgrade tests and begin the next version (NEXT=1.2.3).
	@hack/release/next.sh '$(RELEASE)' '$(NEXT)'
	@$(MAKE) generate

.PHONY: test-release
test-release: ## Test the scripts that make a release.
	@hack/tools/install-debian-packages.sh test
	@cd hack/release && python3 -B -m unittest --quiet test_changelog test_configuration test_krew test_sbom

.PHONY: licenses
licenses: $(BIN)/go-licenses ## Fail when a program contains a module whose license is not among those of hack/licenses.
	@hack/licenses/check.sh $(BIN)/go-licenses $(addprefix operators/,$(OPERATORS)) $(wildcard kubectl-forge)
