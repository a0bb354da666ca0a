#!/usr/bin/env bash
# Runs the Python tests of what is put into pods in the images of the services that have been
# built, of all releases.
#
# Usage: test-python-images.sh CACHE FOLDER...
#   CACHE    the folder with the archives
#   FOLDER   of tests. Those of an operator are for the images of its service
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cache=$1
shift

count=0
for operator in $(hack/tools/operators.sh); do
	folders=()
	for folder; do
		[[ $folder == operators/* && $folder != "operators/$operator/"* ]] || folders+=("$folder")
	done
	# The default release, and those that have theirs in the name.
	for archive in "$cache/$operator".tar "$cache/$operator"-2*.tar; do
		[[ -e $archive ]] || continue
		images/test-python.sh "$archive" "${folders[@]}"
		count=$((count + 1))
	done
done
if ((count == 0)); then
	echo 'no image of a service has been built: run "make image-keystone" first' >&2
	exit 1
fi
