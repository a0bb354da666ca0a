##@ Code quality

# A single run over all modules of the workspace loads shared packages only once.
GO_PATTERNS := $(patsubst %,./%/...,$(GO_MODULES))

# Files that are tracked or not ignored, selected by their first line, since not
# every script has an extension.
SHELL_SCRIPTS = $(shell git ls-files -z -co --exclude-standard | xargs -0 awk \
	'FNR == 1 && /^\#!.*[\/ ](ba|da)?sh( |$$)/ { print FILENAME } { nextfile }')

.PHONY: build
build: ## Compile all packages of all modules.
	go build $(GO_PATTERNS)

# With the flags of hack/tools/build.sh it reads what the tests have compiled.
.PHONY: lint
lint: $(BIN)/golangci-lint ## Run the Go linters, including go vet.
	@CGO_ENABLED=0 GOFLAGS="$$(go env GOFLAGS) -trimpath -gcflags=all=-dwarf=false" $(BIN)/golangci-lint run $(GO_PATTERNS)

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format the Go files.
	$(BIN)/golangci-lint fmt $(GO_MODULES)

.PHONY: format-check
format-check: $(BIN)/golangci-lint ## Fail if a Go file is not formatted.
	$(BIN)/golangci-lint fmt --diff $(GO_MODULES)

# SC1091: the path of a sourced file may only be known at run time. SC2016: text in
# single quotes is not meant to be expanded.
SHELLCHECK_EXCLUDES := SC1091,SC2016

.PHONY: shellcheck
shellcheck: ## Check the shell scripts.
	@hack/tools/install-debian-packages.sh test
	shellcheck --exclude=$(SHELLCHECK_EXCLUDES) --external-sources --source-path=SCRIPTDIR $(SHELL_SCRIPTS)

.PHONY: govulncheck
govulncheck: $(BIN)/govulncheck ## Check for known vulnerabilities, if the Go vulnerability database is reachable.
	@hack/tools/install-debian-packages.sh test
	@cd hack/tools && python3 -B -m unittest --quiet test_govulncheck
	@hack/tools/govulncheck.py $(BIN)/govulncheck hack/tools/vulnerabilities-accepted.txt $(GO_MODULES)

.PHONY: verify-generated
verify-generated: ## Fail if a generated file is outdated.
	@hack/tools/verify-generated.sh '$(BIN)'

.PHONY: verify-versions
verify-versions: ## Fail if modules that are compiled together use different versions of a dependency.
	@hack/tools/align.sh --check
