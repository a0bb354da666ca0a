##@ Quick start

.PHONY: quickstart
quickstart: ## Bring up a cluster with a Keystone and issue a token (WITH_CONTROLPLANE=true: a whole control plane).
	@hack/quickstart/$(if $(filter true,$(WITH_CONTROLPLANE)),controlplane,up).sh

# The most expensive first, so that none of it is left to run alone at the end.
.PHONY: quickstart-parts
quickstart-parts: cluster-parts helm-deps $(QUICKSTART_ARCHIVES)

.PHONY: quickstart-controlplane-parts
quickstart-controlplane-parts: cluster-parts infra-parts

.PHONY: quickstart-down
quickstart-down: cluster-down ## Remove what quickstart brought up; built tools and images stay.
