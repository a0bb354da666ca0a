# The entry point for developers and CI. Each area has its targets in a separate
# file below hack/make.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

ROOT := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
CACHE := $(ROOT)/.cache
BIN := $(CACHE)/bin
OPERATORS := $(shell $(ROOT)/hack/tools/operators.sh)
# With the one that runs the operators of all services.
PROGRAMS := $(shell $(ROOT)/hack/tools/operators.sh --programs)
# The operators come first, from those whose tests take longest.
GO_MODULES := $(addprefix operators/,c5c3 keystone $(filter-out c5c3 keystone,$(PROGRAMS))) internal/common \
	$(sort $(patsubst %/go.mod,%,$(wildcard kubectl-forge/go.mod hack/*/go.mod workshop/*/go.mod)))

include $(sort $(wildcard hack/make/*.mk))

##@ General

.PHONY: help
help: ## Show this help.
	@awk 'BEGIN {FS = ":.*##"; printf "Usage: make \033[36m<target>\033[0m\n"} \
		/^[a-zA-Z0-9_.-]+:.*?##/ { printf "  \033[36m%-28s\033[0m %s\n", $$1, $$2 } \
		/^##@/ { printf "\n\033[1m%s\033[0m\n", substr($$0, 5) }' $(MAKEFILE_LIST)
