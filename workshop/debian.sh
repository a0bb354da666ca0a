#!/usr/bin/env bash
# Makes the image debian:SUITE-slim out of Debian's packages, under the name that a registry
# would serve, for machines where none answers.
#
# Usage: debian.sh SUITE
set -euo pipefail
# shellcheck source=../hack/container/engine.sh
source "$(dirname "${BASH_SOURCE[0]}")/../hack/container/engine.sh"
suite=${1:?usage: debian.sh SUITE}
find_engine
"$engine_root/hack/tools/install-debian-packages.sh" base

# moving succeeds for the suites that become the next Debian.
moving() { [[ $suite == forky || $suite == sid ]]; }

# The host's own Debian sources are the ones known to be reachable, and Debian's servers have
# all suites in the same place. Other distributions have none, and mmdebstrap knows Debian's.
# The suites that move have no updates beside them.
sources() {
	apt-get indextargets 'Identifier: Packages' 'Origin: Debian' --format '$(CODENAME) $(REPO_URI) $(COMPONENT)' |
		sed -nE 's/^[a-z]+(-updates|-security)? (.*)$/deb \2 \1/p' |
		while read -r deb uri component kind; do
			[[ -z $kind ]] || ! moving || continue
			echo "$deb $uri $suite$kind $component"
		done | sort -u
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
arguments=("$suite" "$work/root.tar")
sources >"$work/sources.list"
[[ ! -s $work/sources.list ]] || arguments+=("$work/sources.list")
# An index of these suites is valid for a week, because it is replaced several times a day. A
# mirror that has stopped following them is as good a source as any of a release that is in it.
# The index is signed all the same, and the other suites have to be up to date.
if moving; then
	echo 'Acquire::Check-Valid-Until "false";' >"$work/valid-until"
	arguments=(--aptopt="$work/valid-until" "${arguments[@]}")
fi

# Everything is as old as the epoch, so that equal packages make an equal image.
export SOURCE_DATE_EPOCH=0
mmdebstrap --variant=minbase --format=tar \
	--dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
	"${arguments[@]}" >"$work/log" 2>&1 || {
	cat "$work/log" >&2
	exit 1
}
"$engine" import --change 'CMD ["bash"]' "$work/root.tar" "docker.io/library/debian:$suite-slim" >/dev/null
