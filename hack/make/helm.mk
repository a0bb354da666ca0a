##@ Helm charts

# All charts of all operators; new ones are found automatically.
HELM_CHARTS := $(patsubst %/Chart.yaml,%,$(wildcard operators/*/helm/*-operator/Chart.yaml))
HELM_LIBRARY := operators/shared/helm/operator-library
HELM_PACKAGES := $(CACHE)/charts

# A stamp marks that a chart contains the current library. The archive that Helm
# puts there is no substitute, because its name only contains the version in the
# library's Chart.yaml.
HELM_STAMPS := $(addsuffix /charts/.built,$(HELM_CHARTS))

.PHONY: helm-deps
helm-deps: $(HELM_STAMPS) ## Copy the library chart into the charts that use it.

$(HELM_STAMPS): %/charts/.built: %/Chart.yaml $(wildcard $(HELM_LIBRARY)/*.yaml $(HELM_LIBRARY)/templates/*) | $(BIN)/helm
	@rm -rf $*/charts
	@$(BIN)/helm dependency build --skip-refresh $* >/dev/null
	@touch $@

$(BIN)/chartdoc: $(filter-out %_test.go,$(wildcard hack/chartdoc/*.go)) hack/chartdoc/go.mod
	@$(call build_own,hack/chartdoc,chartdoc=.)
	@touch $@

# $(call document_values,CHART,FLAGS)
document_values = $(BIN)/chartdoc $(2) -base=operators/shared/helm/values.schema.json \
	-own=$(dir $(1))values.schema.json -page=docs/reference/values-$(notdir $(1)).md $(1)

.PHONY: gen-helm-schema
gen-helm-schema: $(BIN)/chartdoc ## Generate the schemas and the documentation of the charts' values, from values.yaml and the shared schema.
	@$(foreach chart,$(HELM_CHARTS),$(call document_values,$(chart));)

.PHONY: verify-helm-schema
verify-helm-schema: $(BIN)/chartdoc ## Fail if a chart's schema or the documentation of its values is outdated.
	@$(foreach chart,$(HELM_CHARTS),$(call document_values,$(chart),-check);)

.PHONY: helm-lint
helm-lint: helm-deps ## Lint the charts.
	@$(foreach chart,$(HELM_CHARTS),$(BIN)/helm lint --strict --quiet $(chart);)

.PHONY: helm-test
helm-test: helm-deps ## Compare the rendered charts with their golden files (UPDATE=1 updates these).
	@$(foreach chart,$(HELM_CHARTS),hack/helm/test.sh $(BIN)/helm $(chart);)

.PHONY: helm-package
helm-package: helm-deps ## Write chart archives to .cache/charts.
	@mkdir -p $(HELM_PACKAGES)
	@$(foreach chart,$(HELM_CHARTS),$(BIN)/helm package --destination $(HELM_PACKAGES) $(chart);)
