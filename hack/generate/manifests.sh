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

# The fields of an affinity are described in the documentation of Kubernetes. Their
# descriptions would be a large part of a definition, whose size kubectl apply limits.
for definition in config/crd/bases/*.yaml; do
	awk '
		match($0, /[^ ]/) { depth = RSTART }
		skipping && depth > skipping { next }
		{ skipping = 0 }
		affinity && depth <= affinity { affinity = 0 }
		affinity && depth > affinity + 2 && /^ *description:/ { skipping = depth; next }
		/^ *affinity:$/ { affinity = depth }
		{ print }' "$definition" >"$definition.new"
	mv "$definition.new" "$definition"
done

# The annotation shows which version a definition in a cluster came with, and prevents an
# older one from replacing it.
sed -i "s|^metadata:\$|metadata:\n  annotations:\n    forge.c5c3.io/version: $version|" config/crd/bases/*.yaml

if [[ -d internal/controller ]]; then
	"$controller_gen" "rbac:roleName=$role" paths=./internal/... output:rbac:dir=config/rbac
fi
