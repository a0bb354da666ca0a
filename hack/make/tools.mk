##@ Tools

# Every tool is built from a module below hack/tools, which pins it by version and
# checksum. Each family of dependencies has its own module, because the families
# require incompatible versions of the same modules. A recipe lists the tools that
# it needs as prerequisites, $(BIN)/<tool>, and only those are built. What others get
# from a registry is built from modules below workshop/tools in the same way.
tool_folder = $(wildcard hack/tools/$(1) workshop/tools/$(1))

# The version that a module requires. It is read when a recipe runs, so that the
# version stamped into a binary always matches the one it was built from.
tool_version = $(shell awk '$$1 == "require" { sub("require ", "") } $$1 == "$(2)" { print $$2; exit }' $(call tool_folder,$(1))/go.mod)

# $(call tool_binaries,NAME=PACKAGE ...)
tool_binaries = $(foreach spec,$(1),$(BIN)/$(firstword $(subst =, ,$(spec))))

# $(call tool_rule,MODULE,NAME=PACKAGE ...,further sources)
# The tags and linker flags come from the variables <MODULE>_tags and
# <MODULE>_ldflags.
define tool_rule
tools: $(call tool_binaries,$(2))
$(call tool_binaries,$(2)) &: $(addprefix $(call tool_folder,$(1))/,go.mod go.sum) $(3)
	@GO_TAGS='$$($(1)_tags)' GO_LDFLAGS='$$($(1)_ldflags)' \
		hack/tools/build.sh $(call tool_folder,$(1)) '$(BIN)' $(2)
endef

# $(call build_own,MODULE,NAME=PACKAGE ...,FOLDER) builds programs of this
# repository, by default into $(BIN). An unchanged binary keeps its modification
# time.
build_own = GO_ALWAYS=true hack/tools/build.sh $(1) '$(or $(3),$(BIN))' $(2)

.PHONY: tools
tools: ## Build every pinned tool.

kubernetes_version = $(call tool_version,kubernetes,k8s.io/kubernetes)
# Without the first five, the binaries report v0.0.0 as their version and refuse
# each other; without the last two, "helm template" renders for Kubernetes 1.20.
kubernetes_ldflags = \
	-X k8s.io/component-base/version.gitVersion=$(kubernetes_version) \
	-X k8s.io/component-base/version.gitMajor=$(word 1,$(subst ., ,$(kubernetes_version:v%=%))) \
	-X k8s.io/component-base/version.gitMinor=$(word 2,$(subst ., ,$(kubernetes_version:v%=%))) \
	-X k8s.io/component-base/version.gitTreeState=clean \
	-X k8s.io/client-go/pkg/version.gitVersion=$(kubernetes_version) \
	-X github.com/containerd/containerd/v2/version.Version=$(call tool_version,kubernetes,github.com/containerd/containerd/v2) \
	-X helm.sh/helm/v3/internal/version.version=$(call tool_version,kubernetes,helm.sh/helm/v3) \
	-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=$(word 1,$(subst ., ,$(kubernetes_version:v%=%))) \
	-X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=$(word 2,$(subst ., ,$(kubernetes_version:v%=%)))
kubernetes_tags = no_btrfs,no_devmapper,no_rdt,no_tracing,no_zfs

tests_tools := $(foreach cmd,kube-apiserver kube-controller-manager kubectl,$(cmd)=k8s.io/kubernetes/cmd/$(cmd)) \
	etcd=go.etcd.io/etcd/server/v3
cluster_tools := $(foreach cmd,kube-scheduler kubelet kube-proxy kubeadm,$(cmd)=k8s.io/kubernetes/cmd/$(cmd)) \
	$(foreach cmd,containerd containerd-shim-runc-v2 ctr,$(cmd)=github.com/containerd/containerd/v2/cmd/$(cmd)) \
	coredns=./coredns pause=./pause
helm_tools := helm=helm.sh/helm/v3/cmd/helm

# A node needs all of them; a single go build of all keeps every core busy until
# the end. Other targets need only some.
kubernetes_groups := $(if $(filter node-image,$(MAKECMDGOALS)),all,tests cluster helm)
all_tools := $(tests_tools) $(cluster_tools) $(helm_tools)
$(foreach group,$(kubernetes_groups),$(eval $(call tool_rule,kubernetes,$($(group)_tools),$(wildcard hack/tools/kubernetes/*/main.go))))

$(eval $(call tool_rule,kind,kind=sigs.k8s.io/kind))
$(eval $(call tool_rule,controller-gen,controller-gen=sigs.k8s.io/controller-tools/cmd/controller-gen))
$(eval $(call tool_rule,crane,crane=github.com/google/go-containerregistry/cmd/crane))
$(eval $(call tool_rule,cyclonedx-gomod,cyclonedx-gomod=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod))
$(eval $(call tool_rule,go-licenses,go-licenses=github.com/google/go-licenses/v2))
$(eval $(call tool_rule,gofumpt,gofumpt=mvdan.cc/gofumpt))
$(eval $(call tool_rule,kustomize,kustomize=sigs.k8s.io/kustomize/kustomize/v5))

# Files that replace or edit files of the tool.
overlay_files = $(shell find $(call tool_folder,$(1))/overlay -type f) hack/tools/overlay.sh

chainsaw_ldflags = -X github.com/kyverno/chainsaw/pkg/version.BuildVersion=$(call tool_version,chainsaw,github.com/kyverno/chainsaw)
$(eval $(call tool_rule,chainsaw,chainsaw=github.com/kyverno/chainsaw,$(call overlay_files,chainsaw)))

golangci-lint_ldflags = -X main.version=$(call tool_version,golangci-lint,github.com/golangci/golangci-lint/v2)
$(eval $(call tool_rule,golangci-lint,golangci-lint=github.com/golangci/golangci-lint/v2/cmd/golangci-lint))
$(eval $(call tool_rule,govulncheck,govulncheck=golang.org/x/vuln/cmd/govulncheck))

# Used only by the test flux-test.
$(eval $(call tool_rule,flux,$(foreach name,$(flux_controllers),$(name)=github.com/fluxcd/$(name))))
