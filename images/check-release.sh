#!/bin/bash
# Ends the build of an image, before anything is downloaded for it, if the suite does not have the
# release that it is for, and writes what the suite has instead:
#
#   check-release.sh SUITE PACKAGE VERSION MISSING
set -euo pipefail
suite=$1 package=$2 version=$3 missing=$4
name=${package#python3-}

export APT_CONFIG=$MMDEBSTRAP_APT_CONFIG
apt-get update
found=$(apt-cache show --no-all-versions "$package" 2>/dev/null | sed -nE 's/^Version: ([0-9]+:)?(.*)-[^-]*$/\2/p' | head -n 1) || true
case $found in
"$version" | "$version".*) exit ;;
'') echo "$suite has no $name" >"$missing" ;;
*) echo "$suite has $name $found" >"$missing" ;;
esac
exit 1
