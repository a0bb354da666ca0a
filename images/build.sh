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

# The engine has the image only until it is saved, and not under its names: those of other checkouts,
# and of whoever works with the engine, are left alone.
temporary=localhost/forge-build:${work##*.}
build() { "$engine" build "${options[@]}" --tag "$temporary" --file "$dockerfile" "$context" && "$engine" save --output "$work/image" "$temporary"; }

# Nothing in an image is newer than the epoch, so that equal content makes an equal image.
case $engine in
podman) options+=(--layers=false --pull=never --timestamp=0 --identity-label=false) ;;
docker) options+=(--provenance=false --build-arg SOURCE_DATE_EPOCH=0) ;;
esac
build >"$work/log" 2>&1 || {
	cat "$work/log" >&2
	exit 1
}
"$engine" rmi "$temporary" >/dev/null
"$(dirname "${BASH_SOURCE[0]}")/name.sh" "$work/image" "$work/named" "${names[@]}"
mv "$work/named" "$archive"
