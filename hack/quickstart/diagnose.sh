#!/usr/bin/env bash
# Prints what explains why something in a namespace does not work: conditions
# that are not True, pods that are not ready with the end of their logs, and the
# latest warnings.
#
# Usage: diagnose.sh NAMESPACE...
set -uo pipefail
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What our operators work on, and what a control plane consists of.
kinds=(controlplanes credentialrotations secretaggregates keystones mariadbs memcacheds externalsecrets pushsecrets
	domains.openstack.k-orc.cloud users.openstack.k-orc.cloud applicationcredentials.openstack.k-orc.cloud
	services.openstack.k-orc.cloud endpoints.openstack.k-orc.cloud)

failing_conditions() {
	local kind
	# One by one, since the API server may not know all of them.
	for kind in "${kinds[@]}"; do
		kubectl -n "$1" get "$kind" -o go-template='{{range .items}}{{$it := .}}{{with .status}}{{range .conditions}}{{
			if eq .status "False"}}{{$it.kind}} {{$it.metadata.name}}: {{.type}} is False, {{.reason}}: {{.message}}
{{end}}{{end}}{{end}}{{end}}' 2>/dev/null
	done
}

# Pods that are not ready, except those that have done their work.
unready_pods() {
	kubectl -n "$1" get pods -o go-template='{{range .items}}{{if ne .status.phase "Succeeded"}}{{$name := .metadata.name}}{{
		range .status.conditions}}{{if and (eq .type "Ready") (ne .status "True")}}{{$name}}
{{end}}{{end}}{{end}}{{end}}' 2>/dev/null
}

logs() {
	printf '\n### end of the log of %s/%s\n' "$1" "$2"
	kubectl -n "$1" logs "$2" --all-containers --prefix --ignore-errors --tail=20
	kubectl -n "$1" logs "$2" --all-containers --prefix --ignore-errors --tail=20 --previous 2>/dev/null
}

for namespace in "$@"; do
	printf '\n### namespace %s\n' "$namespace"
	if ! kubectl --request-timeout=10s -n "$namespace" get pods,jobs -o wide; then
		continue
	fi
	failing_conditions "$namespace"
	printf '\n### latest warnings in %s\n' "$namespace"
	kubectl -n "$namespace" events --types=Warning 2>/dev/null | tail -n 20
	for pod in $(unready_pods "$namespace"); do
		logs "$namespace" "$pod"
	done
done

printf '\n### latest errors of the operators\n'
for operator in keystone c5c3; do
	kubectl -n "$operator-system" logs -l "app.kubernetes.io/name=$operator-operator" --tail=500 --prefix 2>/dev/null |
		grep '"level":"error"' | tail -n 10
done
exit 0
