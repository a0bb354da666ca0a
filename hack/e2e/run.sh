#!/usr/bin/env bash
# Runs end-to-end suites against a running cluster, several at once, summarises their
# durations, and fails if a value of a Secret has leaked into a log or an object.
#
# Usage: run.sh [SUITE...] [-- CHAINSAW-ARGUMENT...]
#   SUITE   a folder below tests/e2e, such as "keystone/smoke", or "c5c3" for all
#           of an operator. Without the operator, such as "gateway", the suites of that
#           name of all operators. By default all suites. Those whose requirements the
#           cluster does not meet are skipped, and fail if they are named themselves. So
#           are those that need an image of a release that can no longer be built
# Environment: BIN (the tools), KUBECONFIG, REPORTS (a folder for the output, the JUnit
# report and the summary), PARALLEL, LOADGEN (the archive of the load generator's image), CORE
# (true: only the suites with the label "core"), COMPLETE (true: fail instead of
# skipping a suite), SHARD (a part of the suites, such as 1/3), RELEASE (that of the Keystones
# of suites that do not say which; its image is built if it is not the default, 2025.1).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
export PATH=$BIN:$PATH NO_PROXY='*' no_proxy='*'

# add_folders SUITE adds its location to folders.
add_folders() {
	local found=(tests/e2e/"$1")
	[[ -d ${found[0]} ]] || found=(tests/e2e/*/"$1")
	if [[ ! -d ${found[0]} ]]; then
		echo "there is no suite \"$1\" below tests/e2e or a folder in it" >&2
		return 2
	fi
	folders+=("${found[@]}")
}

folders=()
while (($# > 0)) && [[ $1 != -- ]]; do
	add_folders "$1"
	shift
done
(($# == 0)) || shift
: "${CORE:=false}" "${COMPLETE:=false}" "${SHARD:=}" "${RELEASE:=2025.1}" shard=
[[ -z $SHARD ]] || shard=$(hack/e2e/shard.py "$SHARD" tests/e2e)
if [[ ! -e $KUBECONFIG ]]; then
	echo 'no cluster of this checkout is running: start one with "make quickstart"' >&2
	exit 1
fi

# label FILE NAME succeeds if the suite has that label.
label() { grep --quiet --line-regexp "    $2: \"true\"" "$1"; }

# needs_of FILE prints what the suite needs in addition to a cluster.
needs_of() {
	local folder=${1#tests/e2e/}
	echo "operator-${folder%%/*}"
	sed -n 's|^    needs/\([a-z-]*\): "true"$|\1|p' "$1"
}

# schedulable prints the nodes that run pods, that of the control plane first.
schedulable() {
	kubectl get nodes --sort-by=.metadata.name --output=json |
		jq -r '[.items[] | select(.spec.unschedulable != true and ([.spec.taints[]? | select(.effect == "NoSchedule")] | length) == 0)]
			| sort_by(.metadata.labels | has("node-role.kubernetes.io/control-plane") | not) | .[].metadata.name'
}

# probe NEED succeeds if the cluster meets the need.
probe() {
	case $1 in
	operator-*) sed -n 's/^  name: //p' "operators/${1#operator-}"/config/crd/bases/*.yaml | xargs kubectl get crd ;;
	browser) hack/tools/install-debian-packages.sh browser && [[ -x /usr/bin/chromedriver ]] ;;
	controlplane) kubectl --namespace openstack get controlplane controlplane ;;
	mariadb-operator) kubectl get crd mariadbs.k8s.mariadb.com ;;
	# Both are programs that enforce them.
	network-policies) kubectl --namespace kube-system get daemonset kindnet || kubectl --namespace kube-system get daemonset kube-router ;;
	metrics-server) kubectl get apiservice v1beta1.metrics.k8s.io ;;
	nodes) (($(schedulable | wc -l) >= 3)) ;;
	# The samples have the names of a control plane that may exist.
	no-controlplane) ! kubectl --namespace openstack get controlplane controlplane ;;
	# A ControlPlane has a database of the same name, which is its own.
	openstack) [[ $(kubectl --namespace openstack get mariadb openstack-db --output=jsonpath='{.metadata.name}{.metadata.ownerReferences}') == openstack-db ]] ;;
	quickstart) kubectl --namespace openstack get keystone keystone ;;
	secretstore) kubectl get clustersecretstore openbao-cluster-store ;;
	traefik) kubectl --namespace traefik-system get service traefik ;;
	*) return 1 ;;
	esac >/dev/null 2>&1
}

# remedy NEED prints how to meet the need.
remedy() {
	case $1 in
	browser) echo 'sudo hack/tools/install-debian-packages.sh browser' ;;
	controlplane) echo 'make quickstart WITH_CONTROLPLANE=true' ;;
	operator-*) echo 'make deploy-infra WITH_CONTROLPLANE=true' ;;
	nodes) echo 'make cluster-down cluster-up NODES=3, and then the quick start' ;;
	no-controlplane) echo 'kubectl --namespace openstack delete controlplane controlplane' ;;
	network-policies) echo 'make cluster-up' ;;
	quickstart) echo 'make quickstart' ;;
	*) echo 'make deploy-infra' ;;
	esac
}

# images_of FILE prints which images of other releases than the default one the suite
# needs, such as "keystone-2022.2".
images_of() { sed -n 's|^    image/\([a-z0-9.-]*\): "true"$|\1|p' "$1"; }

# provide IMAGE builds the image and imports it into the cluster. If it cannot be built because
# Debian no longer has that release, it prints what the build says.
provide() {
	local log
	echo "building the image $1" >&2
	if log=$(env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory "image-$1" 2>&1 </dev/null); then
		hack/kind/cluster.sh load ".cache/images/$1.tar" >/dev/null
	elif ! grep '^not available: ' <<<"$log"; then
		echo "$log" >&2
		return 1
	fi
}

# select_suites FOLDER... fills suites with those in the folders whose needs are met.
# Concurrent suites start from the end of the list. In reverse order those of the
# ControlPlane, which take longest, do not start last.
select_suites() {
	local file need image missing left=0
	local -A met=() unavailable=()
	kubectl get --raw /readyz >/dev/null
	while read -r file; do
		[[ -z $SHARD || $'\n'$shard$'\n' == *$'\n'$file$'\n'* ]] || continue
		[[ $CORE != true ]] || label "$file" core || continue
		missing=
		for need in $(needs_of "$file"); do
			[[ -n ${met[$need]:-} ]] || met[$need]=$(probe "$need" && echo yes || echo no)
			[[ ${met[$need]} == yes ]] || missing=$need
		done
		if [[ -n $missing ]]; then
			echo "skipping ${file%/*}, which needs $missing: \"$(remedy "$missing")\""
			[[ $COMPLETE != true && " $* " != *" ${file%/*} "* ]] || left=1
			continue
		fi
		for image in $(images_of "$file"); do
			[[ -n ${unavailable[$image]+known} ]] || unavailable[$image]=$(provide "$image")
			missing=${unavailable[$image]:-$missing}
		done
		if [[ -n $missing ]]; then
			echo "skipping ${file%/*}: $missing"
			[[ " $* " != *" ${file%/*} "* ]] || left=1
			continue
		fi
		suites+=("${file%/*}")
	done < <(find "$@" -name chainsaw-test.yaml | LC_ALL=C sort --reverse --unique)
	if ((left)); then
		echo 'these suites cannot run' >&2
		return 1
	fi
	if ((${#suites[@]} == 0)); then
		echo "no suite is left to run$([[ $CORE != true ]] || echo ' of those with the label "core"')${SHARD:+ in shard $SHARD}" >&2
		return 1
	fi
}

whole=false suites=()
if ((${#folders[@]} == 0)); then
	folders=(tests/e2e)
	whole=true
fi
select_suites "${folders[@]}"
if [[ $RELEASE != 2025.1 ]]; then
	gone=$(provide "keystone-$RELEASE")
	[[ -z $gone ]] || { echo "$gone" >&2; exit 1; }
fi

mkdir -p "$REPORTS"
# Two concurrent runs must not write to the same report.
run=$(mktemp -d "$REPORTS/run.XXXXXX")
trap 'rm -rf "$run"' EXIT

hack/kind/cluster.sh load "$LOADGEN" >/dev/null

# Follows the cluster until its standard input closes, which happens even if this
# script is killed.
mkfifo "$run/recording"
hack/e2e/record.py "$run/record" <"$run/recording" >"$run/secrets.txt" &
recorder=$!
exec {recording}>"$run/recording"

# Suites that let a node fail put pods on nodes by name.
mapfile -t nodes < <(schedulable)

# Chainsaw writes its report at the very end. Its output names each suite as it ends, so
# that a run that is stopped has shown something too.
status=0
chainsaw test --config tests/e2e/chainsaw.yaml --parallel "$PARALLEL" --report-path "$run" --no-color --quiet \
	--set-string root="$root" --set-string release="$RELEASE" --set-string controlPlane="${nodes[0]:-}" \
	--set-string worker1="${nodes[1]:-}" --set-string worker2="${nodes[2]:-}" "$@" "${suites[@]}" {recording}>&- | tee "$REPORTS/output.txt" || status=$?
if [[ -e $run/e2e.xml ]]; then
	mv "$run/e2e.xml" "$REPORTS/e2e.xml"
	echo
	hack/e2e/summary.py "$REPORTS/e2e.xml" "$SECONDS" | tee "$REPORTS/summary.txt"
	[[ -z $SHARD ]] || hack/e2e/shard.py "$SHARD" tests/e2e 2>&1 >/dev/null | tee -a "$REPORTS/summary.txt"
fi

echo
echo '=== Values of Secrets'
exec {recording}>&-
wait "$recorder" || status=$((status == 0 ? 1 : status))
tee -a "$REPORTS/summary.txt" <"$run/secrets.txt"
if $whole; then
	rights=(hack/e2e/rbac.py)
	[[ $CORE == true || -n $SHARD ]] || rights+=(--complete)
	echo
	echo '=== Permissions of the operators'
	"${rights[@]}" || status=$((status == 0 ? 1 : status))
fi
exit "$status"
