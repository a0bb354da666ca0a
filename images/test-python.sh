#!/bin/bash
# Runs the Python tests of folders of this checkout with the Python and the libraries of an image,
# as the user of its containers and without a network:
#
#   test-python.sh ROOTFS.tar FOLDER...
set -euo pipefail
usage='usage: test-python.sh ROOTFS.tar FOLDER...'
rootfs=${1:?$usage} folder=${2:?$usage}
((EUID == 0)) || { echo "test-python: it mounts file systems: run it as root" >&2; exit 1; }
# Mounts and the network are its own, and end with it.
[[ ${FORGE_UNSHARED:-} == true ]] || FORGE_UNSHARED=true exec unshare --mount --net -- "$0" "$@"

shift
# The tests connect to servers of their own.
ip link set lo up
root=$(mktemp -d -p "$([[ -w /dev/shm ]] && echo /dev/shm || echo "${TMPDIR:-/tmp}")" forge-test.XXXXXX)
trap 'umount --recursive "$root"; rm -rf "$root"' EXIT
mount -t tmpfs -o mode=0755 tmpfs "$root"
tar --extract --file="$rootfs" --directory="$root"
mkdir -p "$root"/{dev,proc,checkout}
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount --bind "$(cd "$(dirname "$0")/.." && pwd)" "$root/checkout"
mount -o remount,bind,ro "$root/checkout"

for folder; do
	chroot --userspec=42424:42424 "$root" sh -euc 'cd "/checkout/$0" && exec python3 -B -m unittest --quiet $(ls | sed -n "s/^\(test_.*\)\.py$/\1/p")' "$folder" ||
		{ echo "test-python: $folder fails with $(chroot "$root" python3 --version) of ${rootfs##*/}" >&2; exit 1; }
done
echo "$(basename "$rootfs" .tar): $(chroot "$root" python3 --version), tests in $# folders passed"
