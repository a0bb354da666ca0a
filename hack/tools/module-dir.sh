#!/usr/bin/env bash
# Prints the folder with the sources of a pinned dependency, whose checksum has
# been verified; downloads it first if needed.
#
# Usage: module-dir.sh MODULE DEPENDENCY
#   MODULE       a folder next to this script that contains go.mod and go.sum
#   DEPENDENCY   the path of a module that it requires
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/$1"
GOWORK=off go mod download "$2"
GOWORK=off go list -mod=readonly -m -f '{{.Dir}}' "$2"
