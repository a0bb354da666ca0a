#!/bin/bash
# Builds the root file system of an image from Debian packages and writes it
# as a tar file:
#
#   build-rootfs.sh IMAGE RELEASE OUT.tar
#
# The table "releases" says from which suite a release comes, and which version it has.
# If the suite has another one, nothing is built and the exit code is 3. The folder of
# the image says what goes in:
#   packages       names of Debian packages, with their dependencies
#   stubs          packages that others depend on but that the image never
#                  loads; they count as installed and stay out (optional)
#   customize.sh   sourced after unpacking, with $root, $release and the functions of
#                  prepare-rootfs.sh (optional)
#
# Packages are unpacked, not installed: no maintainer script runs, so that
# neither dpkg, perl nor debconf is needed inside, and what those scripts would
# have done is done by prepare-rootfs.sh and customize.sh in plain sight.
set -euo pipefail

images=$(cd "$(dirname "$0")" && pwd)
usage='usage: build-rootfs.sh IMAGE RELEASE OUT.tar'
image=${1:?$usage} release=${2:?$usage} out=${3:?$usage}
not_available=3
need_mib=2048
read -r suite package version < <(awk -v image="$image" -v release="$release" \
	'$1 == image && $2 == release { print $3, $4, $5 }' "$images/releases") ||
	{ echo "build-rootfs: $images/releases has no release $release of $image" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "build-rootfs: mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 1; }

scratch() {
	local free
	free=$(df --output=avail -BM /dev/shm 2>/dev/null | tail -1 | tr -dc 0-9 || true)
	# Unpacking in memory takes half the time of unpacking to disk.
	if [[ -w /dev/shm && ${free:-0} -ge $need_mib ]]; then
		echo /dev/shm
	else
		echo "${TMPDIR:-/tmp}"
	fi
}

# moving SUITE succeeds for the suites that become the next Debian.
moving() { [[ $1 == forky || $1 == sid ]]; }

# The host's own Debian sources are the ones known to be reachable, and Debian's servers have
# all suites in the same place. Other distributions have none, and mmdebstrap knows Debian's.
# The suites that move have no updates beside them.
sources() {
	apt-get indextargets 'Identifier: Packages' 'Origin: Debian' --format '$(CODENAME) $(REPO_URI) $(COMPONENT)' |
		sed -nE 's/^[a-z]+(-updates|-security)? (.*)$/deb \2 \1/p' |
		while read -r deb uri component kind; do
			[[ -z $kind ]] || ! moving "$suite" || continue
			echo "$deb $uri $suite$kind $component"
		done | sort -u
}

list() { sed 's/#.*//' "$1" | xargs -rn1; }

work=$(mktemp -d -p "$(scratch)" "forge-rootfs-$image.XXXXXX")
trap 'rm -rf "$work"' EXIT
list "$images/$image/packages" | paste -sd, >"$work/include"
[[ ! -f $images/$image/stubs ]] || list "$images/$image/stubs" >"$work/stubs"
sources >"$work/sources.list"
arguments=("$suite" "$work/rootfs.tar")
[[ ! -s $work/sources.list ]] || arguments+=("$work/sources.list")
# An index of these suites is valid for a week, because it is replaced several times a day. A
# mirror that has stopped following them is as good a source as any of a release that is in it.
# The index is signed all the same, and the other suites have to be up to date.
! moving "$suite" || arguments+=(--aptopt='Acquire::Check-Valid-Until "false"')

# Everything is as old as the epoch, so that equal packages make an equal tar.
export SOURCE_DATE_EPOCH=0 TMPDIR=$work
mkdir -p "$(dirname "$out")"
if ! mmdebstrap --variant=extract --format=tar --skip=cleanup,output/dev \
	--include="$(cat "$work/include")" \
	--setup-hook="$images/check-release.sh '$suite' '$package' '$version' '$work/missing'" \
	--setup-hook="$images/setup-rootfs.sh \"\$1\" '$work/stubs'" \
	--extract-hook="$images/prepare-rootfs.sh \"\$1\" '$images/$image' '$release' '$version'" \
	"${arguments[@]}" >"$work/log" 2>&1; then
	if [[ -s $work/missing ]]; then
		echo "not available: $(cat "$work/missing"), and $image:$release is $version" >&2
		exit "$not_available"
	fi
	cat "$work/log" >&2
	exit 1
fi
cp "$work/rootfs.tar" "$out.part"
mv "$out.part" "$out"
