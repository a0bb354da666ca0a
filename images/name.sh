#!/bin/sh
# Copies the archive of an image, and gives the copy these names and no others.
#
# Usage: name.sh ARCHIVE COPY NAME...
set -eu
archive=$1 copy=$2
shift 2
folder=$(mktemp -d "$copy.XXXXXX")
trap 'rm -rf "$folder"' EXIT
tar -x -f "$archive" -C "$folder"
# Docker names an image here, too, and nobody reads what podman writes for old Dockers.
rm -f "$folder/index.json" "$folder/oci-layout" "$folder/repositories"
names=$(printf ',"%s"' "$@")
sed -E "s#\"RepoTags\":(\[[^]]*\]|null)#\"RepoTags\":[${names#,}]#" "$folder/manifest.json" >"$folder/manifest"
mv "$folder/manifest" "$folder/manifest.json"
(cd "$folder" && tar -c -f - -- *) >"$copy"
