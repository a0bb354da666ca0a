##@ Monitoring

DASHBOARDS := $(wildcard operators/*/dashboards/*.json)

.PHONY: alerts-test
alerts-test: helm-deps ## Test the alert rules with promtool, and check the queries of the dashboards and the page about them.
	@hack/tools/install-debian-packages.sh test alerts
	@cd hack/monitoring && python3 -B -m unittest --quiet test_queries test_show
	@hack/monitoring/show.py --check docs/dashboards.md $(DASHBOARDS)
	@$(foreach chart,$(HELM_CHARTS),hack/monitoring/test.sh $(BIN)/helm $(chart);)

# A Prometheus that scrapes the operators.
PROMETHEUS ?= http://localhost:9090

.PHONY: show-dashboards
show-dashboards: ## Write into docs/dashboards.md what the dashboards' queries answer (PROMETHEUS=http://localhost:9090).
	@hack/monitoring/show.py '$(PROMETHEUS)' docs/dashboards.md $(DASHBOARDS)
