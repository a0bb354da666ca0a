##@ Images

IMAGES_CACHE := $(CACHE)/images
IMAGE_SCRIPTS := images/build.sh images/name.sh

# The lines of the table, each as NAME|IMAGE|RELEASE. The default release of an image
# has the image's own name, and others also have theirs, as in keystone-2022.2.
IMAGE_RELEASES := $(shell awk '!/^(\#|$$)/ { sub(".*/", "", $$1); print ((default[$$1]++) ? $$1 "-" $$2 : $$1) "|" $$1 "|" $$2 }' images/releases)
field = $(word $(1),$(subst |, ,$(2)))

# Images of Debian packages, and images of our own binaries. Those with OpenStack's own tests, and
# the directory, are built only where they are needed.
TEST_IMAGES := placement-tests slapd tempest
DEBIAN_IMAGES := $(filter-out $(TEST_IMAGES),$(sort $(foreach line,$(IMAGE_RELEASES),$(call field,2,$(line)))))
OPERATOR_IMAGES := $(addsuffix -operator,$(PROGRAMS))
IMAGE_ARCHIVES := $(patsubst %,$(IMAGES_CACHE)/%.tar,$(DEBIAN_IMAGES) $(OPERATOR_IMAGES))
# The images that a Keystone on its own requires.
QUICKSTART_ARCHIVES := $(patsubst %,$(IMAGES_CACHE)/%.tar,keystone mariadb memcached openstack-client keystone-operator)

# Two concurrent builds keep two cores busy: one unpacks while the other downloads.
.PHONY: images
images: ## Build all container images of the default releases with Docker or podman, as archives in .cache/images.
	@$(MAKE) -j2 $(IMAGE_ARCHIVES)

image-%: $(IMAGES_CACHE)/%.tar ## Build one container image, such as image-keystone, or that of another release (image-keystone-2022.2).
	@:

# timed NAME COMMAND runs a quiet command and prints its duration.
timed = start=$$SECONDS; $(2); echo "$(1): $$((SECONDS - start)) s"

# $(call debian_image_rule,NAME,IMAGE,RELEASE)
define debian_image_rule
$(IMAGES_CACHE)/$(1).tar: $$(filter-out images/$(2)/test_% images/debian/test_%,$$(wildcard images/$(2)/* images/debian/*)) images/releases images/build-release.sh $$(IMAGE_SCRIPTS)
	@$$(call timed,image $(1),images/build-release.sh $(2) $(3) $$@)
endef
$(foreach line,$(IMAGE_RELEASES),$(eval $(call debian_image_rule,$(call field,1,$(line)),$(call field,2,$(line)),$(call field,3,$(line)))))

# A default release can also be built by its full name.
$(foreach line,$(IMAGE_RELEASES),$(if $(filter $(call field,1,$(line)),$(call field,2,$(line))),$(eval \
	image-$(call field,2,$(line))-$(call field,3,$(line)): image-$(call field,2,$(line)))))

# Only the go command knows whether a binary is up to date, so it always runs; the
# file, and with it the image, changes only if the binary does.
.PHONY: FORCE
$(IMAGES_CACHE)/%-operator/manager: FORCE
	@$(call build_own,operators/$*,manager=.,$(@D))

# $(call build_operator,OPERATOR,TAG) packs the binary that is the first prerequisite: its folder takes the
# place of the stage "build" of the Dockerfile.
build_operator = images/build.sh $@ operators/$(1)/Dockerfile $(<D) ghcr.io/c5c3/$(1)-operator:$(2) -- --build-context build=$(<D)

$(patsubst %,$(IMAGES_CACHE)/%-operator.tar,$(PROGRAMS)): $(IMAGES_CACHE)/%-operator.tar: \
		$(IMAGES_CACHE)/%-operator/manager operators/%/Dockerfile $(IMAGE_SCRIPTS)
	@$(call timed,image $*-operator,$(call build_operator,$*,dev))

# The operators and charts of version 0.8.0, built from its commit, for the suite that upgrades
# them. An archive of the sources has no history.
EARLIER_VERSION := 0.8.0
EARLIER_COMMIT := ba0b3e45d7c5e166bde4a74f1b061d6116afa8fa
EARLIER := $(CACHE)/earlier/$(EARLIER_VERSION)
EARLIER_CHART = $(EARLIER)/operators/$(1)/helm/$(1)-operator

$(EARLIER)/VERSION: | $(BIN)/helm
	@git cat-file -e $(EARLIER_COMMIT) 2>/dev/null || { echo 'not available: the history of version $(EARLIER_VERSION)'; exit 1; }
	@rm -rf '$(@D)' && mkdir -p '$(@D)' && git archive $(EARLIER_COMMIT) | tar -x -C '$(@D)'
	@$(foreach operator,$(OPERATORS),$(BIN)/helm dependency build --skip-refresh $(call EARLIER_CHART,$(operator)) >/dev/null;)
	@touch $@

.PRECIOUS: $(EARLIER)/%/manager
$(EARLIER)/%/manager: $(EARLIER)/VERSION
	@cd $(EARLIER) && GO_ALWAYS=true hack/tools/build.sh operators/$* $(@D) manager=.

$(patsubst %,$(IMAGES_CACHE)/%-operator-$(EARLIER_VERSION).tar,$(OPERATORS)): $(IMAGES_CACHE)/%-operator-$(EARLIER_VERSION).tar: \
		$(EARLIER)/%/manager operators/%/Dockerfile $(IMAGE_SCRIPTS)
	@$(call build_operator,$*,$(EARLIER_VERSION))
