##@ Local cluster

CLUSTER_BIN := $(BIN)/forge-cluster
CLUSTER_SOURCES := $(shell find hack/cluster -name '*.go' -o -path '*/templates/*' -type f -o -name go.mod)

# The programs that run in the cluster's node or go into the images of its
# components.
CLUSTER_TOOLS := $(addprefix $(BIN)/,kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet \
	kubeadm kubectl etcd coredns containerd containerd-shim-runc-v2 ctr local-path-provisioner ociimage pause volume-helper)

$(CLUSTER_BIN): $(CLUSTER_SOURCES)
	@$(call build_own,hack/cluster,forge-cluster=.)
	@touch $@

$(BIN)/pause $(BIN)/volume-helper: $(BIN)/%: hack/cluster/%/main.go hack/cluster/go.mod
	@$(call build_own,hack/cluster,$*=./$*)
	@touch $@

.PHONY: cluster-preflight
cluster-preflight: $(CLUSTER_BIN)
	@$(CLUSTER_BIN) preflight

# Check that the machine can run a cluster before spending minutes on building one.
.PHONY: cluster-up
cluster-up: cluster-preflight ## Bring the local cluster up, or repair it.
	@$(MAKE) cluster-parts
	@$(CLUSTER_BIN) up

.PHONY: cluster-parts
cluster-parts: $(CLUSTER_TOOLS) $(CACHE)/images/rootfs/kube-proxy.tar ## Build the components of the local cluster.

.PHONY: cluster-status
cluster-status: $(CLUSTER_BIN) ## Describe the local cluster; fails unless it is healthy.
	@$(CLUSTER_BIN) status

.PHONY: cluster-load
cluster-load: $(CLUSTER_BIN) ## Import image archives into the local cluster (ARCHIVES="a.tar b.tar").
	@$(CLUSTER_BIN) load $(ARCHIVES)

.PHONY: cluster-down
cluster-down: $(CLUSTER_BIN) ## Stop the local cluster and remove everything it created.
	@$(CLUSTER_BIN) down
