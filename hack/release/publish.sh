#!/usr/bin/env bash
# Publishes the images and charts that "make release" has made, of a commit whose tag
# is "v" and the version. What is published already under that version is not replaced.
#
# Usage: publish.sh FOLDER
# Environment: BIN (crane and helm), REGISTRY (such as ghcr.io/c5c3), REGISTRY_USER and
# REGISTRY_PASSWORD to log in with, none for a registry that takes everything,
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
[[ -z $(git status --porcelain) ]] || fail 'there are changes that are not committed'
git tag --points-at HEAD | grep -qxF "v$version" || fail "this commit has not the tag v$version: VERSION and tag have to agree"
(cd "$folder" && sha256sum --quiet --check sha256sums.txt) || fail "$folder is not what make release has made: run it again"

insecure=() plain=()
if [[ ${REGISTRY_INSECURE:-} == true ]]; then
	insecure=(--insecure) plain=(--plain-http)
fi
# The password goes through standard input, where nobody sees it.
if [[ -n ${REGISTRY_USER:-} ]]; then
	"$BIN/crane" auth login "${REGISTRY%%/*}" --username "$REGISTRY_USER" --password-stdin <<<"${REGISTRY_PASSWORD:?}"
	"$BIN/helm" registry login "${REGISTRY%%/*}" --username "$REGISTRY_USER" --password-stdin <<<"$REGISTRY_PASSWORD"
fi

# absent REFERENCE succeeds when nothing is published under it.
absent() {
	if "$BIN/crane" digest "${insecure[@]}" "$1" >/dev/null 2>&1; then
		echo "$1 is published already"
		return 1
	fi
}

for archive in "$folder"/*.oci.tar; do
	name=$(basename "$archive" "-$version.oci.tar")
	absent "$REGISTRY/$name:$version" || continue
	mkdir "$work/$name"
	tar --directory="$work/$name" --extract --touch --file="$archive"
	# What is named in an archive is, in a registry, found under the tag.
	digest=$(grep -o 'sha256:[0-9a-f]*' "$work/$name/index.json" | head -n 1)
	cp "$work/$name/blobs/sha256/${digest#sha256:}" "$work/$name/index.json"
	"$BIN/crane" push "${insecure[@]}" --index "$work/$name" "$REGISTRY/$name:$version"
done
for chart in "$folder"/*-operator-"$version".tgz; do
	name=$(basename "$chart" "-$version.tgz")
	absent "$REGISTRY/charts/$name:$version" || continue
	"$BIN/helm" push "${plain[@]}" "$chart" "oci://$REGISTRY/charts"
done
