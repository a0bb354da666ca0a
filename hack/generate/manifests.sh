#!/usr/bin/env bash
# Writes an operator's CRDs, webhook configurations and RBAC role from the
# markers in its code.
#
# Usage: manifests.sh CONTROLLER_GEN OPERATOR_DIR ROLE_NAME
set -euo pipefail

controller_gen=$1 operator=$2 role=$3
version=$(<VERSION)
cd "$operator"

"$controller_gen" \
	crd:omitToolVersion=true webhook \
	paths=./api/... paths=./internal/webhook/... \
	output:crd:dir=config/crd/bases \
	output:webhook:dir=config/webhook

# The annotation shows which version a definition in a cluster came with, and prevents an
# older one from replacing it.
sed -i "s|^metadata:\$|metadata:\n  annotations:\n    forge.c5c3.io/version: $version|" config/crd/bases/*.yaml

if [[ -d internal/controller ]]; then
	"$controller_gen" "rbac:roleName=$role" paths=./internal/... output:rbac:dir=config/rbac
fi
