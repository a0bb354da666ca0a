# What others get from a registry, built from the modules below workshop/tools, and the programs of
# this repository that stand in for what cannot be built: see workshop/README.md.

# The image of the nodes.
NODE_TOOLS := $(addprefix $(BIN)/,kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubeadm kubectl \
	etcd coredns pause containerd containerd-shim-runc-v2 ctr kube-router local-path-provisioner)

.PHONY: node-image
node-image: $(NODE_TOOLS)
	@$(call timed,image of the nodes,workshop/node/build.sh build)
	@hack/kind/node.sh

kube-router_ldflags = -X github.com/cloudnativelabs/kube-router/v2/pkg/version.Version=$(call tool_version,kube-router,github.com/cloudnativelabs/kube-router/v2)
$(eval $(call tool_rule,kube-router,kube-router=github.com/cloudnativelabs/kube-router/v2/cmd/kube-router))

local-path-provisioner_ldflags = \
	-X main.VERSION=$(call tool_version,local-path-provisioner,github.com/rancher/local-path-provisioner)
$(eval $(call tool_rule,local-path-provisioner,local-path-provisioner=github.com/rancher/local-path-provisioner))

# The operators that ours depend on; "make deploy-infra" runs them in the cluster.
$(eval $(call tool_rule,mariadb-operator,mariadb-operator=github.com/mariadb-operator/mariadb-operator/cmd/controller))

$(eval $(call tool_rule,external-secrets,external-secrets=github.com/external-secrets/external-secrets,$(call overlay_files,external-secrets)))

metrics-server_ldflags = -X k8s.io/client-go/pkg/version.gitVersion=$(call tool_version,metrics-server,sigs.k8s.io/metrics-server)
$(eval $(call tool_rule,metrics-server,metrics-server=sigs.k8s.io/metrics-server/cmd/metrics-server))

traefik_ldflags = -X github.com/traefik/traefik/v3/pkg/version.Version=$(call tool_version,traefik,github.com/traefik/traefik/v3)
$(eval $(call tool_rule,traefik,traefik=github.com/traefik/traefik/v3/cmd/traefik,$(call overlay_files,traefik)))

$(eval $(call tool_rule,k-orc,k-orc=github.com/k-orc/openstack-resource-controller/v2/cmd/manager))

# The S3 server of the suites.
$(eval $(call tool_rule,versitygw,versitygw=github.com/versity/versitygw/cmd/versitygw))

# $(call own_binary_rule,NAME,MODULE,PACKAGE): programs of this repository. Tests
# are not part of the binaries.
define own_binary_rule
$(BIN)/$(1): $$(filter-out %_test.go,$$(shell find workshop/$(2) -name '*.go' -o -name go.mod))
	@$$(call build_own,workshop/$(2),$(1)=$(3))
	@touch $$@
endef
$(eval $(call own_binary_rule,bao,secretstore,.))
$(eval $(call own_binary_rule,certificates,secretstore,./certificates))
$(eval $(call own_binary_rule,memcached-operator,memcached-operator,.))

# The load generator and the identity provider of the end-to-end suites.
SUITE_PROGRAMS := $(foreach name,loadgen identityprovider,$(IMAGES_CACHE)/$(name)/$(name))
$(SUITE_PROGRAMS): FORCE
	@$(call build_own,workshop/$(@F),$(@F)=.,$(@D))

# $(call binary_image_rule,IMAGE,BINARY,NAME AND TAG): images of a single binary. The folder of the binary is the
# context of the build. The names are those in the charts and manifests of the projects.
define binary_image_rule
$(IMAGES_CACHE)/$(1).tar: $(2) workshop/images/$(1)/Dockerfile $(IMAGE_SCRIPTS)
	@$$(call timed,image $(1),images/build.sh $$@ workshop/images/$(1)/Dockerfile $$(<D) $(3))
endef
$(eval $(call binary_image_rule,external-secrets,$(BIN)/external-secrets,oci.external-secrets.io/external-secrets/external-secrets:v0.20.4))
$(eval $(call binary_image_rule,k-orc,$(BIN)/k-orc,quay.io/orc/openstack-resource-controller:v2.6.0))
$(eval $(call binary_image_rule,loadgen,$(IMAGES_CACHE)/loadgen/loadgen,ghcr.io/c5c3/loadgen:dev))
$(eval $(call binary_image_rule,mariadb-operator,$(BIN)/mariadb-operator,docker-registry3.mariadb.com/mariadb-operator/mariadb-operator:0.38.1))
$(eval $(call binary_image_rule,memcached-operator,$(BIN)/memcached-operator,forge.local/memcached-operator-stand-in:dev))
$(eval $(call binary_image_rule,metrics-server,$(BIN)/metrics-server,registry.k8s.io/metrics-server/metrics-server:v0.9.0))
$(eval $(call binary_image_rule,identityprovider,$(IMAGES_CACHE)/identityprovider/identityprovider,ghcr.io/c5c3/identityprovider:dev))
$(eval $(call binary_image_rule,secretstore,$(BIN)/bao,forge.local/openbao-stand-in:dev))
$(eval $(call binary_image_rule,traefik,$(BIN)/traefik,docker.io/library/traefik:v3.6.12))
$(eval $(call binary_image_rule,versitygw,$(BIN)/versitygw,docker.io/versity/versitygw:v1.8.0))
