##@ Backing services

# What runs beside our own operators, and for each part the images it needs.
INFRA ?= mariadb-operator external-secrets secretstore cert-manager gateway-api
WITH_CONTROLPLANE ?= false

infra_images_mariadb-operator := mariadb-operator mariadb
infra_images_external-secrets := external-secrets
infra_images_secretstore := secretstore
infra_parts := cert-manager gateway-api $(patsubst infra_images_%,%,$(filter infra_images_%,$(.VARIABLES)))

infra_selected = $(sort $(INFRA) $(if $(filter true,$(WITH_CONTROLPLANE)),k-orc memcached-operator))
infra_archives = $(sort $(patsubst %,$(IMAGES_CACHE)/%.tar,$(foreach part,$(infra_selected),$(infra_images_$(part)))))

.PHONY: deploy-infra
deploy-infra: infra-check cluster-preflight ## Deploy the operators that ours use (INFRA="PART...", WITH_CONTROLPLANE=true).
	@$(MAKE) -j$$(($$(nproc) + 2)) cluster-parts infra-parts
	@$(CLUSTER_BIN) up
	@$(CLUSTER_BIN) load $(infra_archives)
	@hack/deploy-infra/deploy.sh $(infra_selected)

.PHONY: infra-check
infra-check:
	@$(foreach part,$(filter-out $(infra_parts),$(infra_selected)), \
		echo 'INFRA names "$(part)", which is none of: $(sort $(infra_parts))' >&2; exit 2;)

.PHONY: infra-parts
infra-parts: $(BIN)/helm $(BIN)/certificates $(infra_archives) ## Build what deploy-infra deploys.


# $(call infra_image_rule,IMAGE,BINARY,PATH IN THE IMAGE)
define infra_image_rule
$(IMAGES_CACHE)/$(1).tar: $(BIN)/$(2) images/$(1)/image.args $$(OCIIMAGE)
	@mkdir -p $$(@D)
	@$$(call timed,image $(1),$$(call pack,$(1),$$@ -file $$<:$(3):0755))
endef
$(eval $(call infra_image_rule,mariadb-operator,mariadb-operator,/bin/mariadb-operator))
$(eval $(call infra_image_rule,external-secrets,external-secrets,/bin/external-secrets))
$(eval $(call infra_image_rule,secretstore,bao,/bin/bao))

# The stand-in for OpenBao, and what makes its certificates.
SECRETSTORE_SOURCES := $(filter-out %_test.go,$(shell find hack/secretstore -name '*.go' -o -name go.mod))

$(BIN)/bao $(BIN)/certificates &: $(SECRETSTORE_SOURCES)
	@mkdir -p $(BIN)
	@GOWORK=off CGO_ENABLED=0 go build -C hack/secretstore -trimpath -buildvcs=false -ldflags '-s -w' -o $(BIN)/bao .
	@GOWORK=off CGO_ENABLED=0 go build -C hack/secretstore -trimpath -buildvcs=false -ldflags '-s -w' -o $(BIN)/certificates ./certificates
