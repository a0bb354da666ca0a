# The stages that both quick starts share, and how they end. Sourced after lib.sh,
# with "set -euo pipefail" in force.
# shellcheck shell=bash
: "${root:?}" "${cache:?}"

# If make called this script, its options and its job server must not be passed on
# to the make called here.
make_quietly() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make --no-print-directory -C "$root" "$@"; }

check_machine() { make_quietly cluster-check; }

# build TARGET builds what is missing. More jobs than cores: while one compiles,
# others download and assemble images.
build() { make_quietly -j"$(($(nproc) + 4))" "$@"; }

bring_cluster_up() { "$root/hack/kind/cluster.sh" up; }

# load_images NAME... imports the archives of that name.
load_images() {
	local archives=("${@/#/$cache/images/}")
	"$root/hack/kind/cluster.sh" load "${archives[@]/%/.tar}"
}

apply() { kubectl apply --server-side --force-conflicts --field-manager=quickstart "$@"; }

# await_ready NAMESPACE TARGET SECONDS shows the conditions of a ControlPlane or a
# Keystone as they change, and says what is wrong if it takes too long.
await_ready() {
	forge wait "$2" --namespace="$1" --timeout="$3s" || {
		local status=$?
		told=$1
		return "$status"
	}
}

# explain NAMESPACE... says what is wrong in the namespaces, but only once.
explain() {
	local namespace
	for namespace in "$@"; do
		[[ $namespace != "${told:-}" ]] || continue
		printf '\n'
		forge status --workloads --namespace="$namespace" --request-timeout=10s || true
	done
}

# end_with COMMAND NAMESPACE... makes the script end, for whatever reason, with what
# failed, what explains it in the namespaces, and the durations. COMMAND is how the
# user called it.
end_with() {
	again=$1
	shift
	explained=("$@")
	trap finish EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# finish runs on every exit. It explains a failure and prints the durations; the exit code stays.
finish() {
	local status=$?
	trap - EXIT
	if ((status != 0)); then
		printf '\nerror: "%s" failed\n' "${stage:-$again}"
		# The user who interrupts a run needs no explanation.
		if ((status < 128)) && [[ -e $KUBECONFIG && -x $cache/bin/kubectl-forge ]]; then
			explain "${explained[@]}"
		fi
		printf '\nCompleted stages are kept: "%s" resumes from here, "make quickstart-down" removes everything.\n' "$again"
	fi
	print_times
	exit "$status"
}
