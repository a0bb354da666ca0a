#!/usr/bin/env bash
# Installs the packages of debian-packages.txt that are missing.
#
# Usage: install-debian-packages.sh [SET...]
# SET is a heading of the list; by default all of them are installed. Does
# nothing, and needs no root, if everything is already installed.
set -euo pipefail

list=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/debian-packages.txt

# wanted SET... prints the packages of the sets, of all without arguments.
wanted() {
	awk -v sets=" $* " '
		/^[[:space:]]*(#|$)/ { next }
		/^\[.*\]$/ { set = substr($0, 2, length($0) - 2); next }
		sets ~ /^ *$/ || index(sets, " " set " ") { print $1 }
	' "$list" | sort -u
}

# missing PACKAGE... prints the packages that are not installed.
missing() {
	local package
	for package in "$@"; do
		[[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
	done
}

install() {
	apt-get -qq -y -o DPkg::Lock::Timeout=300 --no-install-recommends install "$@" >/dev/null
}

for set in "$@"; do
	if ! grep -qxF "[$set]" "$list"; then
		echo "$list has no set [$set]" >&2
		exit 2
	fi
done

mapfile -t packages < <(wanted "$@")
if ! command -v dpkg-query >/dev/null; then
	echo "not a Debian system: make sure that the equivalents of these packages are installed: ${packages[*]}" >&2
	exit 0
fi
mapfile -t packages < <(missing "${packages[@]}")
if ((${#packages[@]} == 0)); then
	exit 0
fi
if ((EUID != 0)); then
	echo "missing packages; as root run: apt-get install ${packages[*]}" >&2
	exit 1
fi

exec 9>/run/lock/forge-debian-packages.lock
flock 9
# The previous holder of the lock may have installed them.
mapfile -t packages < <(missing "${packages[@]}")
if ((${#packages[@]} == 0)); then
	exit 0
fi

echo "installing Debian packages: ${packages[*]}"
export DEBIAN_FRONTEND=noninteractive
# A fresh machine has no package lists, and old lists name files that no longer exist:
# both show up as a failed installation, and only then is an update worth its time.
install "${packages[@]}" 2>/dev/null 9>&- || {
	apt-get -qq update 9>&-
	install "${packages[@]}" 9>&-
}
