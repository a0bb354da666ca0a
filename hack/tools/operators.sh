#!/usr/bin/env bash
# Prints the names of our operators, one per line: the folders below operators that contain
# a program. That of control planes comes last, since it watches what the others
# define.
#
# Usage: operators.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../operators"

for main in */main.go; do
	[[ $main == c5c3/* ]] || echo "${main%/main.go}"
done
echo c5c3
