#!/usr/bin/env bash
# Builds a release of an image of Debian packages and saves it as an archive. The table "releases" says from
# which suite the release comes, and which version it has. If the suite has another one, nothing is
# built and the exit code is 3.
#
# Usage: build-release.sh IMAGE RELEASE ARCHIVE
set -euo pipefail
# shellcheck source=../hack/container/engine.sh
source "$(dirname "${BASH_SOURCE[0]}")/../hack/container/engine.sh"
images=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
image=$1 release=$2 archive=$3
not_available=3

read -r name suite version tags < <(awk -v name="/$image\$" -v release="$release" '
	$1 ~ name && $2 == release { $2 = ""; print }' "$images/releases") || {
	echo "$images/releases has no release $release of $image" >&2
	exit 1
}
names=("$name:$release")
for tag in $tags; do names+=("$name:$tag"); done

find_engine
ensure_base "$suite"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
CONTAINER_ENGINE=$engine "$images/build.sh" "$archive" "$images/$image/Dockerfile" "$images" "${names[@]}" -- \
	--build-arg SUITE="$suite" --build-arg RELEASE="$release" --build-arg VERSION="$version" 2>"$log" || {
	if missing=$(grep -om 1 'not available: .*' "$log"); then
		echo "$missing, and $image:$release is $version" >&2
		exit "$not_available"
	fi
	cat "$log" >&2
	exit 1
}
