#!/usr/bin/env bash
# Writes the CRDs, webhook configurations and RBAC roles of operators from the
# markers in their code.
#
# Usage: manifests.sh CONTROLLER_GEN OPERATOR...
# OPERATOR is a folder such as operators/keystone.
set -euo pipefail

controller_gen=$1
shift
version=$(<VERSION)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Those of all operators in one run, which reads the types of Kubernetes once.
apis=("${@/#/paths=./}")
"$controller_gen" crd:omitToolVersion=true "${apis[@]/%//api/...}" "output:crd:dir=$work"

# The fields of an affinity are described in the documentation of Kubernetes. Their
# descriptions would be a large part of a definition, whose size kubectl apply limits.
without_affinity() {
	awk '
		match($0, /[^ ]/) { depth = RSTART }
		skipping && depth > skipping { next }
		{ skipping = 0 }
		affinity && depth <= affinity { affinity = 0 }
		affinity && depth > affinity + 2 && /^ *description:/ { skipping = depth; next }
		/^ *affinity:$/ { affinity = depth }
		{ print }' "$1"
}

# The annotation shows which version a definition in a cluster came with, and prevents an
# older one from replacing it.
write_definitions() {
	local operator=$1 group definition
	group=$(sed -n 's/^\/\/ +groupName=//p' "$operator"/api/v1alpha1/groupversion_info.go)
	mkdir -p "$operator/config/crd/bases"
	for definition in "$work/$group"_*.yaml; do
		without_affinity "$definition" |
			sed "s|^metadata:\$|metadata:\n  annotations:\n    forge.c5c3.io/version: $version|" >"$operator/config/crd/bases/${definition##*/}"
	done
	{
		printf 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n'
		(cd "$operator/config/crd" && printf '  - %s\n' bases/*.yaml)
	} >"$operator/config/crd/kustomization.yaml"
}

for operator; do
	write_definitions "$operator"
	(
		cd "$operator"
		"$controller_gen" webhook paths=./internal/webhook/... output:webhook:dir=config/webhook
		[[ ! -d internal/controller ]] ||
			"$controller_gen" "rbac:roleName=${operator##*/}-operator" paths=./internal/... output:rbac:dir=config/rbac
	)
done
