#!/usr/bin/env bash
# Builds the image of the cluster's nodes out of the programs in .cache/bin, kind's own files and Debian's
# packages.
#
# Usage: build.sh name|build
#   name    prints its reference, which changes with what goes in, except for the versions of Debian's packages
#   build   builds it
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=../../hack/container/engine.sh
source "$root/hack/container/engine.sh"
bin=$root/.cache/bin
state=$root/.cache/kind
kubernetes=$root/hack/tools/kubernetes kube_router=$root/workshop/tools/kube-router
local_path=$root/workshop/tools/local-path-provisioner

# version FOLDER DEPENDENCY prints the version that the module in the folder requires.
version() { awk -v name="$2" '$1 == "require" { sub("require ", "") } $1 == name { print $2; exit }' "$1/go.mod"; }

name() {
	local digest
	digest=$(cat "$here"/* "$root/hack/tools/kind"/go.{mod,sum} "$kubernetes"/go.{mod,sum} "$kube_router"/go.{mod,sum} \
		"$local_path"/go.{mod,sum} "$kubernetes"/{coredns,pause}/main.go "$root/hack/tools/build.sh" \
		"$root"/hack/make/{tools,workshop}.mk | sha256sum)
	echo "localhost/forge-node:${digest:0:12}"
}

# component TARGET NAME builds the image of a component under that name.
component() {
	"$engine" build --quiet --build-arg SUITE=trixie --target "$1" --tag "$2" --file "$work/components.Dockerfile" "$work/bin" >/dev/null
	components+=("$2")
}

# build_components writes the images of all components to an archive. kubeadm says under which names it wants its own.
build_components() {
	local image name
	while read -r image; do
		name=${image##*/}
		component "${name%%:*}" "$image"
	done < <("$bin/kubeadm" config images list --kubernetes-version "$(version "$kubernetes" k8s.io/kubernetes)" | grep -v /pause:)
	# The configuration of containerd in kind's files names it.
	component pause "$(sed -nE 's/^ *sandbox_image = "(.*)"$/\1/p' "$work/kind/etc/containerd/config.toml")"
	component kube-router "docker.io/cloudnativelabs/kube-router:$kube_router_version"
	component local-path-provisioner "docker.io/rancher/local-path-provisioner:$local_path_version"
	if [[ $engine == podman ]]; then
		podman save --quiet --multi-image-archive --output "$work/components.tar" "${components[@]}"
	else
		docker save --output "$work/components.tar" "${components[@]}"
	fi
}

build() {
	local image kind_files kube_router_version local_path_version components=() program
	image=$(name)
	kube_router_version=$(version "$kube_router" github.com/cloudnativelabs/kube-router/v2)
	local_path_version=$(version "$local_path" github.com/rancher/local-path-provisioner)
	kind_files=$("$root/hack/tools/module-dir.sh" kind sigs.k8s.io/kind)/images/base/files
	find_engine
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
	cp "$here"/*Dockerfile "$work/"
	cp -R "$kind_files" "$work/kind"
	chmod -R u+w "$work/kind"
	sed "s/KUBE_ROUTER_VERSION/$kube_router_version/" "$here/cni.yaml" >"$work/cni.yaml"
	sed "s/LOCAL_PATH_VERSION/$local_path_version/" "$here/storage.yaml" >"$work/storage.yaml"
	build_components
	"$engine" build --quiet --tag "$image" "$work" >/dev/null
	# They are in the image of the node now, as those of earlier programs are.
	"$engine" rmi "${components[@]}" >/dev/null
	"$engine" images --format '{{.Repository}}:{{.Tag}}' localhost/forge-node | grep -vxF "$image" |
		xargs --no-run-if-empty "$engine" rmi >/dev/null 2>&1 || true
}

case ${1:-} in
name) name ;;
build) build ;;
*) refuse_engine "usage: $0 name|build" ;;
esac
