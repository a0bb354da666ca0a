##@ Monitoring

.PHONY: alerts-test
alerts-test: helm-deps ## Test the alert rules with promtool, and check the queries of the dashboards.
	@hack/tools/install-debian-packages.sh test alerts
	@cd hack/monitoring && python3 -B -m unittest --quiet test_queries
	@$(foreach chart,$(HELM_CHARTS),hack/monitoring/test.sh $(BIN)/helm $(chart);)
