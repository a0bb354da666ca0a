#!/bin/bash
# Builds the root file system of an image from Debian packages and writes it
# as a tar file:
#
#   build-rootfs.sh IMAGE OUT.tar
#
# The folder of the image says what goes in:
#   packages       names of Debian packages, with their dependencies
#   stubs          packages that others depend on but that the image never
#                  loads; they count as installed and stay out (optional)
#   customize.sh   sourced after unpacking, with $root and the functions of
#                  prepare-rootfs.sh (optional)
#
# Packages are unpacked, not installed: no maintainer script runs, so that
# neither dpkg, perl nor debconf is needed inside, and what those scripts would
# have done is done by prepare-rootfs.sh and customize.sh in plain sight.
set -euo pipefail

images=$(cd "$(dirname "$0")" && pwd)
image=${1:?usage: build-rootfs.sh IMAGE OUT.tar}
out=${2:?usage: build-rootfs.sh IMAGE OUT.tar}
[[ -f $images/$image/packages ]] || { echo "build-rootfs: no image $image: $images/$image/packages is missing" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "build-rootfs: mmdebstrap is missing: apt-get install mmdebstrap" >&2; exit 1; }

# Debian 12 has the Python that its Keystone is made for, whatever the host is.
suite=bookworm
need_mib=2048

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

# The host's own Debian sources are the ones known to be reachable. A host of
# another suite or distribution has none, and mmdebstrap knows Debian's.
sources() {
	apt-get indextargets 'Identifier: Packages' 'Origin: Debian' \
		--format '$(CODENAME) deb $(REPO_URI) $(RELEASE) $(COMPONENT)' |
		sed -n "s/^$suite\(-updates\|-security\|\) deb /deb /p" | sort -u
}

list() { sed 's/#.*//' "$1" | xargs -rn1; }

work=$(mktemp -d -p "$(scratch)" "forge-rootfs-$image.XXXXXX")
trap 'rm -rf "$work"' EXIT
sources >"$work/sources.list"
[[ -s $work/sources.list ]] || rm "$work/sources.list"
list "$images/$image/packages" | paste -sd, >"$work/include"
[[ ! -f $images/$image/stubs ]] || list "$images/$image/stubs" >"$work/stubs"

# Everything is as old as the epoch, so that equal packages make an equal tar.
export SOURCE_DATE_EPOCH=0 TMPDIR=$work
mkdir -p "$(dirname "$out")"
if ! mmdebstrap --variant=extract --format=tar --skip=cleanup,output/dev \
	--include="$(cat "$work/include")" \
	--setup-hook="$images/setup-rootfs.sh \"\$1\" '$work/stubs'" \
	--extract-hook="$images/prepare-rootfs.sh \"\$1\" '$images/$image'" \
	"$suite" "$work/rootfs.tar" ${work:+$([[ -s $work/sources.list ]] && echo "$work/sources.list")} >"$work/log" 2>&1; then
	cat "$work/log" >&2
	exit 1
fi
cp "$work/rootfs.tar" "$out.part"
mv "$out.part" "$out"
