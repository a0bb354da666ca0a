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

# Nothing in an image is newer than the epoch, so that equal content makes an equal image.
case $engine in
podman) options+=(--layers=false --pull=never --timestamp=0 --identity-label=false) ;;
docker) options+=(--provenance=false --build-arg SOURCE_DATE_EPOCH=0) ;;
esac
"$engine" build "${options[@]}" --iidfile "$work/id" --file "$dockerfile" "$context" >"$work/log" 2>&1 || {
	cat "$work/log" >&2
	exit 1
}

# An image gets its names only for as long as it is saved: the archive is the result. Other checkouts
# give their images the same names, therefore only one at a time does so.
exec 9<"$(command -v "$engine")"
! command -v flock >/dev/null || flock 9
for name in "${names[@]}"; do "$engine" tag "$(<"$work/id")" "$name"; done
"$engine" save --output "$work/archive" "${names[@]}" 2>"$work/log" >&2 || {
	cat "$work/log" >&2
	exit 1
}
"$engine" rmi "${names[@]}" >/dev/null
mv "$work/archive" "$archive"
