##@ Quick start

.PHONY: quickstart
quickstart: ## Bring up a cluster with a Keystone and issue a token (WITH_CONTROLPLANE=true: a whole control plane).
	@SERVICES='$(SERVICES)' hack/quickstart/$(if $(filter true,$(WITH_CONTROLPLANE)),controlplane,up).sh

# Our own operators come first: they need few modules, and while they compile, the
# modules of the others are downloaded.
.PHONY: quickstart-parts
quickstart-parts: $(IMAGES_CACHE)/keystone-operator.tar kubectl-forge cluster-parts helm-deps $(QUICKSTART_ARCHIVES)

.PHONY: quickstart-controlplane-parts
quickstart-controlplane-parts: $(IMAGES_CACHE)/keystone-operator.tar cluster-parts infra-parts

.PHONY: quickstart-down
quickstart-down: cluster-down ## Remove what quickstart brought up; built tools and images stay.
