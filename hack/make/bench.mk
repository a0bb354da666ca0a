##@ Measuring

BENCH := $(CACHE)/bench

# How many Keystones there are, and how often each size is measured. UPDATE=1 writes
# the results to docs/performance.md; UPDATE=counts leaves seconds alone there, for
# a machine that has other work, too.
BENCH_SIZES ?= 1,100
BENCH_RUNS ?= 3
# More flags, as in BENCH_FLAGS='-scenarios=label,restart -memory=128Mi'.
BENCH_FLAGS ?=

.PHONY: bench
bench: $(ENVTEST_BINARIES) ## Measure requests, memory and time of the operator (BENCH_SIZES=1,100, BENCH_RUNS=3, UPDATE=1).
	@$(call build_own,operators/keystone,keystone-operator=.,$(BENCH))
	@$(call build_own,hack/bench,bench=.,$(BENCH))
	@$(BENCH)/bench -operator=$(BENCH)/keystone-operator -dir=$(BENCH)/runs \
		-sizes=$(BENCH_SIZES) -runs=$(BENCH_RUNS) -update=$(UPDATE) $(BENCH_FLAGS)
