#!/usr/bin/env bash
# Prints the folder with the sources of a pinned dependency, whose checksum has
# been verified; downloads it first if needed.
#
# Usage: module-dir.sh MODULE DEPENDENCY
#   MODULE       a folder of hack/tools or workshop/tools that contains go.mod and go.sum
#   DEPENDENCY   the path of a module that it requires
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cd hack/tools/"$1" 2>/dev/null || cd workshop/tools/"$1"
GOWORK=off go mod download "$2"
GOWORK=off go list -mod=readonly -m -f '{{.Dir}}' "$2"
