##@ Generated files

# Files that are generated but committed nevertheless, so that they can be read and
# reviewed, and used without any tool.

API_PACKAGES := internal/common/types $(wildcard operators/*/api/v1alpha1) operators/c5c3/internal/infraapi

# The chart of the program that runs the operators of all services.
SERVICES_CHART := operators/openstack/helm/openstack-operator

.PHONY: generate
generate: workspace versions generate-deepcopy manifests sync-crds gen-helm-schema generate-docs ## Generate code, manifests, chart files and the reference.

# This only adds modules. If a module was removed, every build fails and names it.
.PHONY: workspace
workspace: ## Add every module to go.work.
	@go work use $(addprefix ./,$(GO_MODULES))

.PHONY: versions
versions: ## Write the version from VERSION into the charts.
	@hack/release/versions.sh

.PHONY: generate-deepcopy
generate-deepcopy: $(BIN)/controller-gen
	@$(BIN)/controller-gen object $(addprefix paths=./,$(API_PACKAGES))

.PHONY: manifests
manifests: $(BIN)/controller-gen ## Generate CRDs, RBAC and webhook manifests from the markers in the code.
	@hack/generate/manifests.sh $(BIN)/controller-gen $(addprefix operators/,$(OPERATORS))

.PHONY: sync-crds
sync-crds: manifests ## Copy CRDs and RBAC rules into the Helm charts.
	@$(foreach operator,$(OPERATORS),hack/generate/chart.sh operators/$(operator) operators/$(operator)/helm/$(operator)-operator;)
	@hack/generate/services-chart.sh $(SERVICES_CHART)

# The generators compile the operators and run them to list their flags. With the
# flags of hack/tools/build.sh they share compiled packages with the tests.
GO_RUN_DOCS = CGO_ENABLED=0 GOFLAGS="$$(go env GOFLAGS) -trimpath -gcflags=all=-dwarf=false '-ldflags=-s -w'" go run

.PHONY: generate-docs
generate-docs: manifests generate-deepcopy ## Generate the reference (API, conditions, events, metrics, flags, steps, kubectl plugin), the dashboards, and the table of suites.
	@$(GO_RUN_DOCS) ./hack/docgen docs/reference
	@cd kubectl-forge && $(GO_RUN_DOCS) ./internal/reference ../docs/reference
	@hack/e2e/document.sh

.PHONY: verify-crd-sync
verify-crd-sync: ## Fail if a chart's CRDs differ from those of its operator.
	@$(foreach operator,$(OPERATORS),hack/generate/chart.sh --check operators/$(operator) operators/$(operator)/helm/$(operator)-operator;)
	@hack/generate/services-chart.sh --check $(SERVICES_CHART)
