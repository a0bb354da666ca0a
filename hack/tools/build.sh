#!/usr/bin/env bash
# Builds command line tools from one pinned module into a directory.
#
# Usage: build.sh MODULE BIN NAME=PACKAGE...
#   MODULE   a folder beside this script that holds go.mod and go.sum
#   BIN      the folder that receives the binaries
#   NAME     the binary's name; PACKAGE the main package it is built from
# Environment: GO_TAGS (build tags), GO_LDFLAGS (linker flags besides -s -w).
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
module=$1 bin=$2
shift 2

mkdir -p "$bin"
bin=$(cd "$bin" && pwd)

# Two callers may want the same tool at once (two terminals, or make -j): the
# second waits and then finds the work done.
if command -v flock >/dev/null; then
	exec 9>"$bin/.$module.lock"
	flock 9
	# What a killed build left behind.
	rm -rf "$bin/.$module".??????
fi

overlay=()
if [[ -d $here/$module/overlay ]]; then
	mapfile -d '' overlay < <(find "$here/$module/overlay" -type f -print0)
fi

up_to_date() {
	local spec input
	for spec in "$@"; do
		[[ -x $bin/${spec%%=*} ]] || return 1
		for input in "$here/$module"/{go.mod,go.sum,*.go} "${overlay[@]}"; do
			[[ ! $input -nt $bin/${spec%%=*} ]] || return 1
		done
	done
}
if up_to_date "$@"; then
	exit 0
fi

staging=$(mktemp -d "$bin/.$module.XXXXXX")
trap 'rm -rf "$staging"' EXIT

names=() packages=()
for spec in "$@"; do
	names+=("${spec%%=*}")
	packages+=("${spec#*=}")
done
echo "building ${names[*]}"
SECONDS=0

cd "$here/$module"
modfile=()
if ((${#overlay[@]})); then
	"$here/overlay.sh" "$module" "$staging/overlay"
	modfile=(-modfile="$staging/overlay/go.mod")
fi
# One go build for all of them, so that what they share is compiled and
# downloaded once. The descriptor of the lock is closed for it: a compile
# daemon that outlived us would keep others waiting.
GOWORK=off CGO_ENABLED=0 GOFLAGS=-mod=readonly go build "${modfile[@]}" \
	-trimpath -buildvcs=false -tags "${GO_TAGS:-}" -ldflags "-s -w ${GO_LDFLAGS:-}" \
	-o "$staging/" "${packages[@]}" 9>&-

# Binaries appear by rename, so that nobody ever starts half of one.
for spec in "$@"; do
	package=${spec#*=} name=${spec%%=*}
	built=${package##*/}
	# go names the binary of a path that ends in a major version after the
	# element before it.
	if [[ $built =~ ^v[0-9]+$ ]]; then
		package=${package%/*}
		built=${package##*/}
	fi
	if [[ $package == . ]]; then
		built=$module
	fi
	touch "$staging/$built"
	mv -f "$staging/$built" "$bin/$name"
	echo "built $name ($(du -m "$bin/$name" | cut -f1) MB)"
done
echo "building ${names[*]} took ${SECONDS} s"
