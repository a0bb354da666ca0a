##@ Measuring

BENCH := $(CACHE)/bench

# The operator to measure: keystone, c5c3, or openstack for the program of all services.
BENCH_OPERATOR ?= keystone
# The numbers of its resources to measure with, and the number of runs for each.
# UPDATE=1 writes the results to docs/performance.md; UPDATE=counts leaves the
# durations there alone, for a machine that is busy with other work.
BENCH_SIZES ?= 1,100
BENCH_RUNS ?= 3
# Further flags, as in BENCH_FLAGS='-scenarios=label,restart -memory=128Mi'.
BENCH_FLAGS ?=

.PHONY: bench
bench: envtest-binaries ## Measure the operator's requests, memory and time (BENCH_OPERATOR=keystone|c5c3|openstack, BENCH_SIZES=1,100, BENCH_RUNS=3, UPDATE=1).
	@$(call build_own,operators/$(BENCH_OPERATOR),$(BENCH_OPERATOR)-operator=.,$(BENCH))
	@$(call build_own,hack/bench,bench=.,$(BENCH))
	@$(BENCH)/bench -operator=$(BENCH_OPERATOR) -program=$(BENCH)/$(BENCH_OPERATOR)-operator -dir=$(BENCH)/runs/$(BENCH_OPERATOR) \
		-sizes=$(BENCH_SIZES) -runs=$(BENCH_RUNS) -update=$(UPDATE) $(BENCH_FLAGS)

# The measurements on the cluster (ready, controlplane, api, changes, idle), and further
# flags for hack/bench/cluster, as in BENCH_CLUSTER_FLAGS='--seconds=60' for api and
# '--idle-pods=20 --idle-seconds=600 --settle-seconds=60' for idle.
BENCH_PARTS ?= ready api
BENCH_CLUSTER_FLAGS ?=
# The load generator, and the release that is upgraded.
BENCH_ARCHIVES = $(patsubst %,$(CACHE)/images/%.tar,loadgen $(if $(filter changes,$(BENCH_PARTS)),keystone-2022.2))

.PHONY: bench-cluster
bench-cluster: $(BENCH_ARCHIVES) ## Measure on the cluster of quickstart what a user waits for, and what an idle cluster costs (BENCH_PARTS="ready controlplane api changes idle", BENCH_RUNS=3, UPDATE=1).
	@test -e $(ROOT)/kubeconfig || { echo 'There is no cluster to measure on: run "make quickstart" first' >&2; exit 2; }
	@$(call build_own,hack/bench,bench=.,$(BENCH))
	@$(CLUSTER) load $(BENCH_ARCHIVES) >/dev/null
	@KUBECONFIG=$(ROOT)/kubeconfig PATH=$(BIN):$$PATH python3 -B hack/bench/cluster/main.py \
		--runs=$(BENCH_RUNS) --samples=$(BENCH)/cluster.json $(BENCH_CLUSTER_FLAGS) $(BENCH_PARTS)
	@$(BENCH)/bench -samples=$(BENCH)/cluster.json -update=$(UPDATE)
