##@ Images

OCIIMAGE := $(BIN)/ociimage
IMAGES_CACHE := $(CACHE)/images
ROOTFS_CACHE := $(IMAGES_CACHE)/rootfs
ROOTFS_SCRIPTS := $(addprefix images/,releases build-rootfs.sh check-release.sh setup-rootfs.sh prepare-rootfs.sh)

# The lines of the table, each as NAME|IMAGE|RELEASE|TAG.... The default release of an image
# has the image's own name, and others also have theirs, as in keystone-2022.2.
IMAGE_RELEASES := $(shell awk '!/^(\#|$$)/ { name = (default[$$1]++) ? $$1 "-" $$2 : $$1; tags = $$2; for (i = 6; i <= NF; i++) tags = tags "|" $$i; \
	print name "|" $$1 "|" $$2 "|" tags }' images/releases)
field = $(word $(1),$(subst |, ,$(2)))

# Images based on a root file system of Debian packages, and images of our own
# binaries. Those with OpenStack's own tests are built for the suites that need them.
TEST_IMAGES := placement-tests tempest
DEBIAN_RELEASES := $(IMAGE_RELEASES)
DEBIAN_IMAGES := $(filter-out $(TEST_IMAGES),$(sort $(foreach line,$(DEBIAN_RELEASES),$(call field,2,$(line)))))
OPERATOR_IMAGES := $(addsuffix -operator,$(OPERATORS))
IMAGE_ARCHIVES := $(patsubst %,$(IMAGES_CACHE)/%.tar,$(DEBIAN_IMAGES) $(OPERATOR_IMAGES))
# The images that a Keystone on its own requires.
QUICKSTART_ARCHIVES := $(patsubst %,$(IMAGES_CACHE)/%.tar,keystone mariadb memcached openstack-client keystone-operator)

# Two concurrent builds keep two cores busy: one unpacks while the other downloads.
.PHONY: images
images: ## Build all container images of the default releases as archives in .cache/images.
	@$(MAKE) -j2 $(IMAGE_ARCHIVES)

# With a container engine, the Dockerfiles build the same images.
DOCKER_TAG ?= dev

.PHONY: docker-build
docker-build: ## Build an operator's image with Docker (OPERATOR=keystone, DOCKER_TAG=dev); "make image-keystone-operator" works without Docker.
	@docker version >/dev/null 2>&1 || { echo 'there is no Docker here: use "make image-$(OPERATOR)-operator"' >&2; exit 2; }
	docker build --file operators/$(OPERATOR)/Dockerfile --tag ghcr.io/c5c3/$(OPERATOR)-operator:$(DOCKER_TAG) .

image-%: $(IMAGES_CACHE)/%.tar ## Build one container image, such as image-keystone, or that of another release (image-keystone-2022.2).
	@:

# Only the tool's own source files are inputs: its module has no local dependencies,
# and its tests are not part of the binary.
$(OCIIMAGE): $(addprefix hack/ociimage/,main.go image.go layer.go archive.go combine.go go.mod go.sum)
	@$(call build_own,hack/ociimage,ociimage=.)
	@touch $@

# timed NAME COMMAND runs a quiet command and prints its duration.
timed = start=$$SECONDS; $(2); echo "$(1): $$((SECONDS - start)) s"

# $(call rootfs_rule,NAME,IMAGE,RELEASE)
define rootfs_rule
$(ROOTFS_CACHE)/$(1).tar: $$(filter-out %/image.args,$$(wildcard images/$(2)/*)) $$(ROOTFS_SCRIPTS) \
		$(if $(filter keystone placement,$(2)),images/check-imports.py)
	@hack/tools/install-debian-packages.sh images
	@$$(call timed,root file system of $(2) $(3),images/build-rootfs.sh $(2) $(3) $$@)
endef
$(foreach line,$(IMAGE_RELEASES),$(eval $(call rootfs_rule,$(call field,1,$(line)),$(call field,2,$(line)),$(call field,3,$(line)))))

# image.args holds the arguments of ociimage, with comments.
# $(call pack,IMAGE,ARGUMENTS) or, where its name gets these tags, $(call pack,IMAGE,ARGUMENTS,TAGS)
pack = sed -E 's/^ *\#.*//$(if $(3),; s|^-name (.*)|$(foreach tag,$(3),-name \1:$(tag))|)' images/$(1)/image.args | xargs $(OCIIMAGE) -o $(2)

# $(call debian_image_rule,NAME,IMAGE,RELEASE,TAGS)
define debian_image_rule
$(IMAGES_CACHE)/$(1).tar: $(ROOTFS_CACHE)/$(1).tar images/$(2)/image.args images/releases $$(OCIIMAGE)
	@$$(call timed,image $(1),$$(call pack,$(2),$$@ -layer $$<,$(4)))
endef
$(foreach line,$(DEBIAN_RELEASES),$(eval $(call \
	debian_image_rule,$(call field,1,$(line)),$(call field,2,$(line)),$(call field,3,$(line)),$(wordlist 4,99,$(subst |, ,$(line))))))

# A default release can also be built by its full name.
$(foreach line,$(DEBIAN_RELEASES),$(if $(filter $(call field,1,$(line)),$(call field,2,$(line))),$(eval \
	image-$(call field,2,$(line))-$(call field,3,$(line)): image-$(call field,2,$(line)))))

# Only the go command knows whether a binary is up to date, so it always runs; the
# file, and with it the image, changes only if the binary does. ociimage is built
# first, so that images can be packed while other binaries compile.
.PHONY: FORCE
$(IMAGES_CACHE)/%-operator/manager: FORCE | $(OCIIMAGE)
	@$(call build_own,operators/$*,manager=.,$(@D))

define operator_image_rule
$(IMAGES_CACHE)/$(1).tar: $(IMAGES_CACHE)/$(1)/manager images/$(1)/image.args $$(OCIIMAGE)
	@$$(call timed,image $(1),$$(call pack,$(1),$$@ -file $$<:/manager:0755))
endef
$(foreach image,$(OPERATOR_IMAGES),$(eval $(call operator_image_rule,$(image))))

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

$(patsubst %,$(IMAGES_CACHE)/%-operator-$(EARLIER_VERSION).tar,$(OPERATORS)): $(IMAGES_CACHE)/%-operator-$(EARLIER_VERSION).tar: \
		$(EARLIER)/VERSION $(OCIIMAGE)
	@cd $(EARLIER) && GO_ALWAYS=true hack/tools/build.sh operators/$* $(EARLIER)/$* manager=.
	@sed 's/^ *\#.*//; s/:dev$$/:$(EARLIER_VERSION)/' images/$*-operator/image.args | xargs $(OCIIMAGE) -o $@ -file $(EARLIER)/$*/manager:/manager:0755

# The load generator of the end-to-end suites.
$(IMAGES_CACHE)/loadgen/loadgen: FORCE
	@$(call build_own,hack/loadgen,loadgen=.,$(@D))

$(IMAGES_CACHE)/loadgen.tar: $(IMAGES_CACHE)/loadgen/loadgen images/loadgen/image.args $(OCIIMAGE)
	@$(call timed,image loadgen,$(call pack,loadgen,$@ -file $<:/loadgen:0755))
