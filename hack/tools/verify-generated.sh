#!/usr/bin/env bash
# Fails if "make generate" would change a file.
#
# Usage: verify-generated.sh BIN
# BIN is the folder of the pinned tools. The generators run in a copy of the
# work tree: the original stays as it is, and uncommitted edits made meanwhile are not
# mistaken for drift.
set -euo pipefail

root=$(git rev-parse --show-toplevel)
bin=$(mkdir -p "$1" && cd "$1" && pwd)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$root"
# Files deleted but not yet committed are listed too; times are kept, since
# make compares them with those of the tools.
git ls-files -z -co --exclude-standard | while IFS= read -r -d '' file; do
	[[ ! -e $file ]] || printf '%s\0' "$file"
done | tar --null --files-from=- --create --file="$work/tree.tar"
mkdir "$work/before" "$work/after"
tar -xf "$work/tree.tar" -C "$work/before"
tar -xf "$work/tree.tar" -C "$work/after"

make --no-print-directory -C "$work/after" generate BIN="$bin" CACHE="$work/cache" >"$work/log" 2>&1 || {
	cat "$work/log" >&2
	echo "make generate failed" >&2
	exit 1
}

# If a generator had to be built, its log is there.
if ! diff --recursive --new-file --unified --exclude=.cache "$work/before" "$work/after" >"$work/diff"; then
	sed -E "s#^(---|\+\+\+) $work/(before|after)/#\1 #; s#$work/(before|after)/##g" "$work/diff" | head -n 200
	echo "generated files differ from their sources: run make generate and commit what it changes" >&2
	exit 1
fi
echo "generated files are up to date"
