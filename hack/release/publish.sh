#!/usr/bin/env bash
# Publishes the images and charts that "make release" has built, for a commit whose tag
# is "v" and the version. What is already published under that version is not replaced.
#
# Usage: publish.sh FOLDER
# Environment: BIN (crane and helm), REGISTRY (such as ghcr.io/c5c3), REGISTRY_USER and
# REGISTRY_PASSWORD to log in with, unset for a registry without logins,
# REGISTRY_INSECURE=true for one without TLS
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
folder=$1 version=$(<VERSION)
: "${BIN:?}" "${REGISTRY:?}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DOCKER_CONFIG=$work/docker HELM_CACHE_HOME=$work/helm HELM_CONFIG_HOME=$work/helm HELM_DATA_HOME=$work/helm

fail() {
	echo "$*" >&2
	exit 1
}
[[ -z $(git status --porcelain) ]] || fail 'there are uncommitted changes'
git tag --points-at HEAD | grep -qxF "v$version" || fail "this commit does not have the tag v$version: VERSION and tag have to agree"
(cd "$folder" && sha256sum --quiet --check sha256sums.txt) || fail "$folder differs from what make release has built: run it again"

insecure=() plain=()
if [[ ${REGISTRY_INSECURE:-} == true ]]; then
	insecure=(--insecure) plain=(--plain-http)
fi
# The password is passed on standard input, which no process list shows.
if [[ -n ${REGISTRY_USER:-} ]]; then
	"$BIN/crane" auth login "${REGISTRY%%/*}" --username "$REGISTRY_USER" --password-stdin <<<"${REGISTRY_PASSWORD:?}"
	"$BIN/helm" registry login "${REGISTRY%%/*}" --username "$REGISTRY_USER" --password-stdin <<<"$REGISTRY_PASSWORD"
fi

# absent REFERENCE succeeds if nothing is published under it.
absent() {
	if "$BIN/crane" digest "${insecure[@]}" "$1" >/dev/null 2>&1; then
		echo "$1 is already published"
		return 1
	fi
}

for archive in "$folder"/*.oci.tar; do
	name=$(basename "$archive" "-$version.oci.tar")
	absent "$REGISTRY/$name:$version" || continue
	mkdir "$work/$name"
	tar --directory="$work/$name" --extract --touch --file="$archive"
	# An image that has a name in the archive is found by its tag in a registry.
	digest=$(grep -o 'sha256:[0-9a-f]*' "$work/$name/index.json" | head -n 1)
	cp "$work/$name/blobs/sha256/${digest#sha256:}" "$work/$name/index.json"
	"$BIN/crane" push "${insecure[@]}" --index "$work/$name" "$REGISTRY/$name:$version"
done
for chart in "$folder"/*-operator-"$version".tgz; do
	name=$(basename "$chart" "-$version.tgz")
	absent "$REGISTRY/charts/$name:$version" || continue
	"$BIN/helm" push "${plain[@]}" "$chart" "oci://$REGISTRY/charts"
done
