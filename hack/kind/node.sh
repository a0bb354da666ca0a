#!/usr/bin/env bash
# Finds the image of the cluster's nodes: the one that NODE_IMAGE names, or that of kind where a registry
# has it, or one that is built here from pinned modules and Debian's packages.
#
# Usage: node.sh find|build
#   find    writes the reference of an image that the engine has to .cache/kind/image, with exit code 3 if it
#           has to be built first
#   build   builds it out of the programs in .cache/bin, and writes its reference
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=../container/engine.sh
source "$root/hack/container/engine.sh"
bin=$root/.cache/bin
state=$root/.cache/kind
to_build=3

# version MODULE DEPENDENCY prints the pinned version.
version() { awk -v name="$2" '$1 == "require" { sub("require ", "") } $1 == name { print $2; exit }' "$root/hack/tools/$1/go.mod"; }

# own prints the reference of the image that is built here. It changes with what goes in, except for the
# versions of Debian's packages.
own() {
	local tools=$root/hack/tools digest
	digest=$(cat "$here"/node/* "$tools"/{kind,kube-router,kubernetes,local-path-provisioner}/go.{mod,sum} \
		"$tools"/kubernetes/{coredns,pause}/main.go "$tools/build.sh" "$root/hack/make/tools.mk" | sha256sum)
	echo "localhost/forge-node:${digest:0:12}"
}

# upstream prints the image that this version of kind uses by default, with its digest.
upstream() {
	local sources
	sources=$("$root/hack/tools/module-dir.sh" kind sigs.k8s.io/kind)
	sed -nE 's/^const Image = "(.*)"$/docker.io\/\1/p' "$sources/pkg/apis/config/defaults/image.go"
}

exists() { "$engine" image inspect "$1" >/dev/null 2>&1; }

# found REFERENCE ends the script with this image.
found() {
	mkdir -p "$state"
	echo "$1" >"$state/image"
	[[ -x $bin/kubectl ]] || take_kubectl "$1"
	exit 0
}

# take_kubectl REFERENCE copies kubectl out of the image, or uses that of a machine on which it cannot run.
take_kubectl() {
	mkdir -p "$bin"
	if [[ $(uname) == Linux ]]; then
		"$engine" run --rm --network=none --entrypoint=cat "$1" /usr/bin/kubectl >"$bin/kubectl.part"
		chmod +x "$bin/kubectl.part"
		mv "$bin/kubectl.part" "$bin/kubectl"
	else
		ln -s "$(command -v kubectl)" "$bin/kubectl" || refuse_engine 'kubectl is not installed'
	fi
}

find_image() {
	local image
	if [[ -n ${NODE_IMAGE:-} ]]; then
		exists "$NODE_IMAGE" || pull "$NODE_IMAGE" || refuse_engine "NODE_IMAGE is $NODE_IMAGE, which cannot be pulled"
		found "$NODE_IMAGE"
	fi
	image=$(own)
	! exists "$image" || found "$image"
	image=$(upstream)
	exists "$image" || pull "$image" || exit "$to_build"
	found "$image"
}

# build_component TARGET NAME builds the image of a component under that name.
build_component() {
	"$engine" build --quiet --build-arg SUITE=trixie --target "$1" --tag "$2" --file "$work/components.Dockerfile" "$work/bin" >/dev/null
	components+=("$2")
}

# build_components writes the images of all components to an archive. kubeadm says under which names it wants its own.
build_components() {
	local image name
	while read -r image; do
		name=${image##*/}
		build_component "${name%%:*}" "$image"
	done < <("$bin/kubeadm" config images list --kubernetes-version "$(version kubernetes k8s.io/kubernetes)" | grep -v /pause:)
	# The configuration of containerd in kind's files names it.
	build_component pause "$(sed -nE 's/^ *sandbox_image = "(.*)"$/\1/p' "$work/kind/etc/containerd/config.toml")"
	build_component kube-router "docker.io/cloudnativelabs/kube-router:$kube_router"
	build_component local-path-provisioner "docker.io/rancher/local-path-provisioner:$local_path"
	if [[ $engine == podman ]]; then
		podman save --quiet --multi-image-archive --output "$work/components.tar" "${components[@]}"
	else
		docker save --output "$work/components.tar" "${components[@]}"
	fi
}

build_image() {
	local image kind_files kube_router local_path components=() program
	image=$(own)
	kube_router=$(version kube-router github.com/cloudnativelabs/kube-router/v2)
	local_path=$(version local-path-provisioner github.com/rancher/local-path-provisioner)
	kind_files=$("$root/hack/tools/module-dir.sh" kind sigs.k8s.io/kind)/images/base/files
	ensure_base trixie
	ensure_base bookworm
	mkdir -p "$state"
	work=$(mktemp -d "$state/build.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	mkdir "$work/bin"
	for program in kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubeadm kubectl etcd coredns pause \
		containerd containerd-shim-runc-v2 ctr kube-router local-path-provisioner; do
		ln "$bin/$program" "$work/bin/" 2>/dev/null || cp "$bin/$program" "$work/bin/"
	done
	cp "$here"/node/*Dockerfile "$work/"
	cp -R "$kind_files" "$work/kind"
	chmod -R u+w "$work/kind"
	sed "s/KUBE_ROUTER_VERSION/$kube_router/" "$here/node/cni.yaml" >"$work/cni.yaml"
	sed "s/LOCAL_PATH_VERSION/$local_path/" "$here/node/storage.yaml" >"$work/storage.yaml"
	build_components
	"$engine" build --quiet --tag "$image" "$work" >/dev/null
	# They are in the image of the node now, as those of earlier programs are.
	"$engine" rmi "${components[@]}" >/dev/null
	"$engine" images --format '{{.Repository}}:{{.Tag}}' localhost/forge-node | grep -vxF "$image" |
		xargs --no-run-if-empty "$engine" rmi >/dev/null 2>&1 || true
	rm -rf "$work"
	trap - EXIT
	found "$image"
}

find_engine
case ${1:-} in
find) find_image ;;
build) build_image ;;
*) refuse_engine "usage: $0 find|build" ;;
esac
