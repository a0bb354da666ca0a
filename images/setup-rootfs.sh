#!/bin/sh
# Prepares an empty root file system before packages are unpacked into it:
#
#   setup-rootfs.sh ROOT STUBS
set -eu
root=$1 stubs=$2

# Debian has had one /usr tree since 12: links take the place of the old directories
# before the first package would create them.
for dir in bin sbin lib lib64; do
	mkdir -p "$root/usr/$dir"
	ln -sfn "usr/$dir" "$root/$dir"
done

# Version 99 satisfies every "at least" that a dependency may ask for. The
# package usr-is-merged stands for the links above; "allowed" also answers to
# dependencies on an architecture of one's choice, such as perl:any.
stub() {
	printf 'Package: %s\nStatus: install ok installed\nPriority: optional\nSection: misc\nMaintainer: none <none@localhost>\nArchitecture: %s\nMulti-Arch: allowed\nVersion: 99:99\nDescription: left out of the image\n\n' "$1" "$(dpkg --print-architecture)"
}
mkdir -p "$root/var/lib/dpkg"
{
	stub usr-is-merged
	[ ! -f "$stubs" ] || while read -r name; do stub "$name"; done <"$stubs"
} >>"$root/var/lib/dpkg/status"
