#!/usr/bin/env bash
# Prepares a build in which a few files of one dependency are replaced by ours.
#
# Usage: overlay.sh MODULE DIR
#   MODULE   a folder, from the top of the checkout. Its "overlay/module" names
#            the dependency; all other files below "overlay" replace those at the
#            same path in it, or, with ".sed" appended, edit them. A file named
#            "all.sed" edits each Go file next to it that it applies to.
#   DIR      receives the dependency's sources and the go.mod and go.sum to
#            build with, as in: go build -modfile=DIR/go.mod
#
# The go command does not allow -overlay to replace files of the module cache, so
# the dependency is copied from there, after its checksum was verified.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
module=$here/../../$1
mkdir -p "$2"
target=$(cd "$2" && pwd)

dependency=$(<"$module/overlay/module")
source=$("$here/module-dir.sh" "${1##*/}" "$dependency")

rm -rf "$target/src"
cp -r --no-preserve=mode "$source" "$target/src"
cp -r "$module/overlay/." "$target/src"
rm "$target/src/module"
while IFS= read -r -d '' script; do
	files=("${script%.sed}") changed=false
	[[ ${script##*/} != all.sed ]] || files=("${script%/*}"/*.go)
	for file in "${files[@]}"; do
		sed -f "$script" "$file" >"$script.out"
		cmp -s "$file" "$script.out" || changed=true
		mv "$script.out" "$file"
	done
	if ! $changed; then
		echo "${script#"$target/src/"} of $1 changes nothing: has the dependency changed?" >&2
		exit 1
	fi
	rm "$script"
done < <(cd "$module/overlay" && find . -name '*.sed' -printf "$target/src/%P\0")
cp "$module"/go.{mod,sum} "$target"
GOWORK=off go mod edit -replace="$dependency=$target/src" "$target/go.mod"
