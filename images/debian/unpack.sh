#!/bin/bash
# Unpacks Debian packages, and those that they depend on, into /rootfs. The Dockerfiles of images of
# Debian packages run it, with the variables SUITE and VERSION:
#
#   unpack.sh PACKAGE... [without PACKAGE...]
#
# The first package makes the image what it is: unless the suite has VERSION of it, nothing is downloaded, and
# the exit code is 3. Those after "without" count as installed and stay out, although others depend on them.
#
# Packages are unpacked, not installed: no maintainer script runs, so that neither dpkg, perl nor debconf is
# needed inside, and what those scripts would have done, rootfs.sh does in plain sight.
set -euo pipefail
not_available=3
packages=()
while (($#)) && [[ $1 != without ]]; do
	packages+=("$1")
	shift
done
left_out=("${@:2}")

# Version 99 satisfies every "at least" that a dependency may ask for. "allowed" also answers to
# dependencies on an architecture of one's choice, such as perl:any.
stub() {
	printf 'Package: %s\nStatus: install ok installed\nPriority: optional\nSection: misc\nMaintainer: none <none@localhost>\nArchitecture: %s\nMulti-Arch: allowed\nVersion: 99:99\nDescription: left out of the image\n\n' "$1" "$(dpkg --print-architecture)"
}

# apt OPTION... installs the packages on a system that has nothing but what is left out.
apt() { apt-get -qq --yes --no-install-recommends -o Dir::State::status=/tmp/status "$@" install "${packages[@]}"; }

# check_release ends the build if the suite does not have the version.
check_release() {
	local name=${packages[0]#python3-} found
	found=$(apt-cache show --no-all-versions "${packages[0]}" 2>/dev/null | sed -nE 's/^Version: ([0-9]+:)?(.*)-[^-]*$/\2/p' | head -n 1) || true
	[[ $found != "$VERSION" && $found != "$VERSION".* ]] || return 0
	[[ -n $found ]] && found="$name $found" || found="no $name"
	echo "not available: $SUITE has $found"
	exit "$not_available"
}

# download puts the packages into apt's cache and their names into /tmp/packages. Concurrent builds of all
# suites share the cache: one at a time works with it, and none removes what others need.
download() {
	rm -f /etc/apt/apt.conf.d/docker-clean
	exec 9>/var/cache/apt/forge.lock
	flock 9
	apt-get -qq update -o APT::Get::List-Cleanup=false
	check_release
	apt --download-only
	apt --print-uris -o Dir::Cache::archives=/tmp/none | awk '{ print $2 }' >/tmp/packages
	exec 9>&-
}

# unpack NAME... unpacks files of the cache, without what only people at a terminal would read.
unpack() {
	local name
	for name; do
		dpkg-deb --fsys-tarfile "/var/cache/apt/archives/$name" |
			tar --extract --directory=/rootfs --numeric-owner --keep-directory-symlink --exclude-from=/tmp/excluded
	done
}

# The links of a single /usr tree come first, before a package creates a directory in their place.
# The package usr-is-merged stands for them.
for folder in bin sbin lib lib64; do
	mkdir -p "/rootfs/usr/$folder"
	ln -s "usr/$folder" "/rootfs/$folder"
done
for name in usr-is-merged "${left_out[@]}"; do stub "$name"; done >/tmp/status
printf './usr/share/%s\n' doc man info locale lintian menu bug pixmaps bash-completion perl5 >/tmp/excluded
download
mapfile -t archives </tmp/packages
unpack "${archives[@]}"
