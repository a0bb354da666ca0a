#!/usr/bin/env bash
# Builds programs from one pinned module into a directory, and reports progress.
#
# Usage: build.sh MODULE BIN NAME=PACKAGE...
#   MODULE   the folder that holds go.mod and go.sum, from the top of the checkout
#   BIN      the folder that receives the binaries
#   NAME     the binary's name; PACKAGE the main package it is built from
# Environment: GO_TAGS (build tags), GO_LDFLAGS (linker flags besides -s -w),
# GO_ALWAYS=true (let go decide what is up to date, and leave an unchanged binary
# alone). The output of go goes to .cache/log.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
module=$1
mkdir -p "$2" "$root/.cache/log"
bin=$(cd "$2" && pwd)
shift 2
source=$root/$module
always=${GO_ALWAYS:-false}
name=${module##*/}
log=$root/.cache/log/$name-${1%%=*}.log

overlay=()
if [[ -d $source/overlay ]]; then
	mapfile -d '' overlay < <(find "$source/overlay" -type f -print0)
fi

up_to_date() {
	local input
	[[ $always == false && -x $bin/${1%%=*} ]] || return 1
	for input in "$source"/{go.mod,go.sum,*.go,*/*.go} "${overlay[@]}"; do
		[[ ! $input -nt $bin/${1%%=*} ]] || return 1
	done
}

# choose NAME=PACKAGE... selects what has to be built, without what is up to date.
choose() {
	local spec
	specs=()
	for spec in "$@"; do
		up_to_date "$spec" || specs+=("$spec")
	done
	((${#specs[@]})) || exit 0
	packages=("${specs[@]#*=}")
	title="${specs[*]%%=*} ($module)"
}

# binary PACKAGE prints what go calls its binary: a path that ends in a major
# version gives the name of the element before it.
binary() {
	local package=$1
	[[ $package != . ]] || package=$module
	[[ ! ${package##*/} =~ ^v[0-9]+$ ]] || package=${package%/*}
	echo "${package##*/}"
}

explain() {
	echo "building $title failed; the end of $log without the names of packages:" >&2
	grep ' ' "$log" | grep -v '^go: \(downloading\|finding\) ' | tail -n 30 >&2
	exit 1
}

# count_stale prints how many packages have to be compiled.
count_stale() {
	[[ $fetched == false ]] ||
		go list -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "${flags[@]}" "${packages[@]}" 2>>"$log" | grep -c .
}

duration() { if (($1 < 90)); then echo "$1 s"; else echo "$(($1 / 60)) min $(($1 % 60)) s"; fi; }

# follow copies go's output to the log and reports progress now and then: "-v"
# prints each package on a separate line.
follow() {
	local line count=0 next=15 todo
	todo=$(count_stale) || true
	while IFS= read -r line; do
		printf '%s\n' "$line" >>"$log"
		[[ $line != *' '* ]] || continue
		((count++)) || echo "building $title"
		if ((SECONDS >= next && count < todo)); then
			printf '  %s: %d of %d packages, %s, about %s left\n' "$name" "$count" "$todo" \
				"$(duration "$SECONDS")" "$(duration $((SECONDS * (todo - count) / count)))"
			next=$((SECONDS + 15))
		fi
	done
}

choose "$@"
staging=$(mktemp -d "$bin/.build.XXXXXX")
trap 'rm -rf "$staging"' EXIT

# The same flags for everything, since go's cache serves only what was compiled
# with the same ones. "-s -w" drops the debug information that "-dwarf=false"
# does not even write.
flags=(-trimpath -buildvcs=false -gcflags=all=-dwarf=false -tags "${GO_TAGS:-}" -ldflags "-s -w ${GO_LDFLAGS:-}")
export GOWORK=off CGO_ENABLED=0 GOFLAGS=-mod=readonly
cd "$source"
: >"$log"
if ((${#overlay[@]})); then
	"$root/hack/tools/overlay.sh" "$module" "$staging/overlay" >>"$log" 2>&1 || explain
	flags+=(-modfile="$staging/overlay/go.mod")
fi
fetched=false
if [[ $always == false || ! -e $bin/${specs[0]%%=*} ]]; then
	GOMAXPROCS=8 go list -deps "${flags[@]}" "${packages[@]}" >/dev/null 2>>"$log" || explain
	fetched=true
fi

# One build at a time: go keeps all cores busy, and two would both compile what
# they share. Others download meanwhile. After waiting, the work may already be done.
if command -v flock >/dev/null; then
	exec 9>"$root/.cache/log/.lock"
	flock 9
	choose "$@"
fi

# go relinks only what differs from the existing binary.
for spec in "${specs[@]}"; do
	[[ $always == false || ! -e $bin/${spec%%=*} ]] ||
		cp -p "$bin/${spec%%=*}" "$staging/$(binary "${spec#*=}")"
done
# Garbage collection is a quarter of a compiler's work; with a limit only compilers
# that need much memory do it. The descriptor of the lock is closed: a
# daemon that outlives this script would block other builds.
SECONDS=0
GOGC=off GOMEMLIMIT=1200MiB go build -v "${flags[@]}" -o "$staging/" "${packages[@]}" 2>&1 9>&- | follow || explain
! grep -q '^[^ ]\+$' "$log" || echo "built $title in $(duration "$SECONDS")"

# Binaries are renamed into place, so that an incomplete one is never started.
for spec in "${specs[@]}"; do
	built=$staging/$(binary "${spec#*=}") target=$bin/${spec%%=*}
	if [[ $always == false ]]; then
		touch "$built"
	elif cmp -s "$built" "$target"; then
		continue
	fi
	mv -f "$built" "$target"
done
