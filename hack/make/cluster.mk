##@ Local cluster

CLUSTER := hack/kind/cluster.sh
# The nodes of the cluster: one control plane, and workers.
NODES ?= 1
CLUSTER_NAME ?= forge
export NODES CLUSTER_NAME

.PHONY: cluster-check
cluster-check:
	@$(CLUSTER) check

# Check that the machine can run a cluster before spending minutes on building one.
.PHONY: cluster-up
cluster-up: cluster-check ## Bring the local cluster up, or repair it (NODES=3: with two workers).
	@$(MAKE) cluster-parts
	@$(CLUSTER) up

.PHONY: cluster-parts
cluster-parts: $(BIN)/kind ## Provide the image of the nodes: kind's own, or one built here where no registry answers.
	@hack/kind/node.sh || { [ $$? = 3 ] && $(MAKE) node-image; }

.PHONY: cluster-status
cluster-status: ## Describe the local cluster; fails unless it works.
	@$(CLUSTER) status

.PHONY: cluster-load
cluster-load: ## Import image archives into the local cluster (ARCHIVES="a.tar b.tar").
	@$(CLUSTER) load $(ARCHIVES)

.PHONY: cluster-down
cluster-down: $(BIN)/kind ## Remove the local cluster and everything that it made.
	@$(CLUSTER) down
