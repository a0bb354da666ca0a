# The container engine that builds images and runs the nodes of the cluster: Docker or podman.
# Sourced, with "set -euo pipefail" in force.
# shellcheck shell=bash

engine=
engine_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# refuse_engine MESSAGE... ends the script with what is wrong and what to do.
refuse_engine() {
	printf 'error: %s\n' "$*" >&2
	exit 2
}

# answers ENGINE succeeds if the engine itself works, and not only its client.
answers() { command -v "$1" >/dev/null && "$1" info >/dev/null 2>&1; }

# find_engine sets engine to docker or podman: to what CONTAINER_ENGINE says, or else to the one that
# answers. Without either, podman is installed where Debian's packages can be.
find_engine() {
	engine=${CONTAINER_ENGINE:-}
	case $engine in
	'')
		if answers docker; then
			engine=docker
		else
			engine=podman
			command -v podman >/dev/null || install_podman
		fi
		;;
	docker | podman) ;;
	*) refuse_engine "CONTAINER_ENGINE is \"$engine\": set it to docker or podman" ;;
	esac
	[[ $engine != podman ]] || limit_podman
	answers "$engine" || refuse_engine "$engine does not answer: $("$engine" info 2>&1 | tail -n 1)"
	export KIND_EXPERIMENTAL_PROVIDER=$engine
}

install_podman() {
	if [[ ! -e /etc/debian_version ]] || ((EUID != 0)); then
		refuse_engine 'neither Docker nor podman is here: install one of them, and start Docker if it is not running'
	fi
	"$engine_root/hack/tools/install-debian-packages.sh" podman
}

# can NUMBER succeeds if this process has the capability.
can() { ((0x$(awk '$1 == "CapEff:" { print $2 }' /proc/self/status) >> $1 & 1)); }

# limit_podman gives containers the limits of this process where they cannot be raised: podman asks for more
# open files than that, and nothing would start. CAP_SYS_RESOURCE, number 24, may raise them. podman itself
# runs with no more processes than the kernel has numbers for.
limit_podman() {
	[[ -z ${CONTAINERS_CONF:-} && -r /proc/self/status ]] && ((EUID == 0)) && ! can 24 || return 0
	local processes numbers
	processes=$(ulimit -Hu) numbers=$(</proc/sys/kernel/pid_max)
	[[ $processes != unlimited ]] && ((processes < numbers)) || processes=$numbers
	export CONTAINERS_CONF=$engine_root/.cache/containers.conf
	mkdir -p "${CONTAINERS_CONF%/*}"
	printf '[containers]\ndefault_ulimits = ["nofile=%s:%s", "nproc=%s:%s"]\n' \
		"$(ulimit -Hn)" "$(ulimit -Hn)" "$processes" "$processes" >"$CONTAINERS_CONF.$$"
	# Others may be reading it.
	mv "$CONTAINERS_CONF.$$" "$CONTAINERS_CONF"
}

# ensure_base SUITE makes sure that the engine has the image debian:SUITE-slim: it is pulled, or made
# out of Debian's packages where no registry answers. Concurrent builds of images wait for one of them to do so.
ensure_base() {
	local name=docker.io/library/debian:$1-slim lock
	! "$engine" image inspect "$name" >/dev/null 2>&1 || return 0
	exec {lock}<"$engine_root/workshop/debian.sh"
	! command -v flock >/dev/null || flock "$lock"
	"$engine" image inspect "$name" >/dev/null 2>&1 || pull "$name" || "$engine_root/workshop/debian.sh" "$1"
	exec {lock}<&-
}

# pull IMAGE pulls an image and gives up where no registry answers within seconds.
pull() { timeout "${PULL_TIMEOUT:-300}" "$engine" pull --quiet "$1" >/dev/null 2>&1; }
