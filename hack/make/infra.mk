##@ Backing services

# The parts that run in addition to our own operators, and the images that each part
# requires.
INFRA ?= mariadb-operator external-secrets secretstore cert-manager gateway-api metrics-server traefik memcached-operator openstack
WITH_CONTROLPLANE ?= false
# Where our own operators come from; with "external" they are installed by other
# means.
CONTROLPLANE_OPERATORS ?= flux

infra_images_cert-manager :=
infra_images_directory := slapd
infra_images_external-secrets := external-secrets
infra_images_gateway-api :=
infra_images_k-orc := k-orc
infra_images_mariadb-operator := mariadb-operator mariadb
infra_images_memcached-operator := memcached-operator memcached
infra_images_metrics-server := metrics-server
infra_images_openstack := mariadb memcached
infra_images_secretstore := secretstore
infra_images_traefik := traefik
# The services of which the cluster gets operators and images, and which the control plane of
# the quick start has.
SERVICES ?= keystone barbican placement glance horizon

# An operator comes with the images of its service, if it has one, and of the client.
$(foreach operator,$(OPERATORS),$(eval infra_images_$(operator)-operator := \
	$(operator)-operator openstack-client $(filter-out c5c3,$(operator))))
infra_parts := $(patsubst infra_images_%,%,$(filter infra_images_%,$(.VARIABLES)))

# The parts that a ControlPlane requires in addition to the default ones, with our
# own operators. It creates the resources of the part "openstack" itself.
infra_controlplane := k-orc memcached-operator $(if $(filter external,$(CONTROLPLANE_OPERATORS)),,$(addsuffix -operator,c5c3 $(SERVICES)))
infra_selected = $(sort $(if $(filter true,$(WITH_CONTROLPLANE)),$(filter-out openstack,$(INFRA)) $(infra_controlplane),$(INFRA)))
infra_archives = $(sort $(patsubst %,$(IMAGES_CACHE)/%.tar,$(foreach part,$(infra_selected),$(infra_images_$(part)))))

.PHONY: deploy-infra
deploy-infra: ## Deploy the infrastructure of our operators to the cluster of this checkout or to the current one (docs/deploy-infra.md).
	@hack/deploy-infra.sh

.PHONY: teardown-infra
teardown-infra: ## Remove what deploy-infra has deployed.
	@hack/deploy-infra.sh --teardown

# From Go modules: images are built here, and no Flux is needed.
.PHONY: infra-modules
infra-modules: infra-check cluster-check
	@$(MAKE) -j$$(($$(nproc) + 4)) cluster-parts infra-parts
	@$(CLUSTER) up
	@$(CLUSTER) load $(infra_archives)
	@workshop/deploy/modules.sh $(infra_selected)

.PHONY: infra-check
infra-check:
	@$(foreach part,$(filter-out $(infra_parts),$(infra_selected)), \
		echo 'INFRA names "$(part)", which is none of: $(sort $(infra_parts))' >&2; exit 2;)

.PHONY: infra-parts
infra-parts: infra-check kubectl-forge helm-deps $(BIN)/helm $(BIN)/certificates $(infra_archives) ## Build what deploy-infra deploys.
	@hack/tools/install-debian-packages.sh infra

.PHONY: infra-load
infra-load: infra-check
	@$(CLUSTER) load $(infra_archives)
