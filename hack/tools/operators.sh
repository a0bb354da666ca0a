#!/usr/bin/env bash
# Prints the names of our operators, one per line: the folders below operators that contain
# a program and an API. That of control planes comes last, since it watches what the others
# define.
#
# Usage: operators.sh [--programs]
#   --programs   prints all programs: also the one that runs the operators of all services
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../operators"

for main in */main.go; do
	program=${main%/main.go}
	[[ -d $program/api || ${1:-} == --programs ]] || continue
	[[ $program == c5c3 ]] || echo "$program"
done
echo c5c3
