##@ Images

OCIIMAGE := $(BIN)/ociimage
IMAGES_CACHE := $(CACHE)/images
ROOTFS_CACHE := $(IMAGES_CACHE)/rootfs
ROOTFS_SCRIPTS := $(addprefix images/,build-rootfs.sh setup-rootfs.sh prepare-rootfs.sh)

# Images based on a root file system of Debian packages, and images of our own
# binaries. The cluster packs that of kube-proxy, because it includes the binary.
DEBIAN_IMAGES := $(filter-out kube-proxy,$(patsubst images/%/packages,%,$(wildcard images/*/packages)))
OPERATOR_IMAGES := $(addsuffix -operator,$(OPERATORS))
IMAGE_ARCHIVES := $(patsubst %,$(IMAGES_CACHE)/%.tar,$(DEBIAN_IMAGES) $(OPERATOR_IMAGES))
# The images that a Keystone on its own requires.
QUICKSTART_ARCHIVES := $(patsubst %,$(IMAGES_CACHE)/%.tar,keystone mariadb memcached openstack-client keystone-operator)

# Two concurrent builds keep two cores busy: one unpacks while the other downloads.
.PHONY: images
images: ## Build all container images as archives in .cache/images.
	@$(MAKE) -j2 $(IMAGE_ARCHIVES)

# With a container engine, the Dockerfiles build the same images.
DOCKER_TAG ?= dev

.PHONY: docker-build
docker-build: ## Build an operator's image with Docker (OPERATOR=keystone, DOCKER_TAG=dev); "make image-keystone-operator" works without Docker.
	@docker version >/dev/null 2>&1 || { echo 'there is no Docker here: use "make image-$(OPERATOR)-operator"' >&2; exit 2; }
	docker build --file operators/$(OPERATOR)/Dockerfile --tag ghcr.io/c5c3/$(OPERATOR)-operator:$(DOCKER_TAG) .

image-%: $(IMAGES_CACHE)/%.tar ## Build one container image, such as image-keystone.
	@:

# Only the tool's own source files are inputs: its module has no local dependencies,
# and its tests are not part of the binary.
$(OCIIMAGE): $(addprefix hack/ociimage/,main.go image.go layer.go archive.go combine.go go.mod go.sum)
	@$(call build_own,hack/ociimage,ociimage=.)
	@touch $@

# timed NAME COMMAND runs a quiet command and prints its duration.
timed = start=$$SECONDS; $(2); echo "$(1): $$((SECONDS - start)) s"

define rootfs_rule
$(ROOTFS_CACHE)/$(1).tar: $$(filter-out %/image.args,$$(wildcard images/$(1)/*)) $$(ROOTFS_SCRIPTS)
	@hack/tools/install-debian-packages.sh images
	@$$(call timed,root file system of $(1),images/build-rootfs.sh $(1) $$@)
endef
$(foreach image,kube-proxy $(DEBIAN_IMAGES),$(eval $(call rootfs_rule,$(image))))

# Their build ends with it.
$(ROOTFS_CACHE)/keystone.tar $(ROOTFS_CACHE)/placement.tar: images/check-imports.py

# image.args holds the arguments of ociimage, with comments.
pack = sed 's/^ *\#.*//' images/$(1)/image.args | xargs $(OCIIMAGE) -o $(2)

define debian_image_rule
$(IMAGES_CACHE)/$(1).tar: $(ROOTFS_CACHE)/$(1).tar images/$(1)/image.args $$(OCIIMAGE)
	@$$(call timed,image $(1),$$(call pack,$(1),$$@ -layer $$<))
endef
$(foreach image,$(DEBIAN_IMAGES),$(eval $(call debian_image_rule,$(image))))

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

# The load generator of the end-to-end suites.
$(IMAGES_CACHE)/loadgen/loadgen: FORCE
	@$(call build_own,hack/loadgen,loadgen=.,$(@D))

$(IMAGES_CACHE)/loadgen.tar: $(IMAGES_CACHE)/loadgen/loadgen images/loadgen/image.args $(OCIIMAGE)
	@$(call timed,image loadgen,$(call pack,loadgen,$@ -file $<:/loadgen:0755))
