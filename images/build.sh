#!/usr/bin/env bash
# Builds an image with Docker or podman and saves it as an archive, which "ctr images import" and
# "kind load image-archive" take.
#
# Usage: build.sh ARCHIVE DOCKERFILE CONTEXT NAME... [-- OPTION...]
#   NAME     the full names of the image, with tags
#   OPTION   further options of the engine's command "build"
# Environment: CONTAINER_ENGINE (docker or podman, by default the one that answers)
set -euo pipefail
# shellcheck source=../hack/container/engine.sh
source "$(dirname "${BASH_SOURCE[0]}")/../hack/container/engine.sh"
archive=$1 dockerfile=$2 context=$3
shift 3
names=()
while (($#)) && [[ $1 != -- ]]; do
	names+=("$1")
	shift
done
options=("${@:2}")
find_engine
mkdir -p "$(dirname "$archive")"
work=$(mktemp -d "$archive.XXXXXX")
trap 'rm -rf "$work"' EXIT

# Nothing in an image is newer than the epoch, so that equal content makes an equal image. podman saves it at
# once. Docker keeps it until it is saved, under a name that no other build has.
build() {
	local name=localhost/forge-build:${work##*.}
	case $engine in
	podman)
		podman build --layers=false --pull=never --timestamp=0 --identity-label=false "${options[@]}" \
			--tag "docker-archive:$work/image" --file "$dockerfile" "$context"
		;;
	docker)
		docker build --provenance=false --build-arg SOURCE_DATE_EPOCH=0 "${options[@]}" --tag "$name" --file "$dockerfile" "$context" &&
			docker save --output "$work/image" "$name" && docker rmi "$name"
		;;
	esac
}

build >"$work/log" 2>&1 || {
	cat "$work/log" >&2
	exit 1
}
"$(dirname "${BASH_SOURCE[0]}")/name.sh" "$work/image" "$work/named" "${names[@]}"
mv "$work/named" "$archive"
