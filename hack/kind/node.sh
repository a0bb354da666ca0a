#!/usr/bin/env bash
# Finds the image of the cluster's nodes: the one that NODE_IMAGE names, the one that was built here, or that
# of kind where a registry has it. Writes its reference to .cache/kind/image.
#
# Usage: node.sh
# The exit code is 3 if there is none, so that it has to be built: see workshop/node.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=../container/engine.sh
source "$root/hack/container/engine.sh"
bin=$root/.cache/bin
state=$root/.cache/kind
to_build=3

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

find_engine
if [[ -n ${NODE_IMAGE:-} ]]; then
	exists "$NODE_IMAGE" || pull "$NODE_IMAGE" || refuse_engine "NODE_IMAGE is $NODE_IMAGE, which cannot be pulled"
	found "$NODE_IMAGE"
fi
image=$("$root/workshop/node/build.sh" name)
! exists "$image" || found "$image"
image=$(upstream)
exists "$image" || pull "$image" || exit "$to_build"
found "$image"
