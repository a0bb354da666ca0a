# What a machine needs to run the cluster. Sourced by cluster.sh.
# shellcheck shell=bash
: "${engine?}" "${root:?}" "${NODES:?}" "${KIND_HOST_PORT:?}"

need_mib=6144

check_machine() {
	command -v jq >/dev/null || "$root/hack/tools/install-debian-packages.sh" cluster
	check_podman
	check_modules
	check_disk
	check_inotify
	[[ -n $(nodes) ]] || check_free
}

# check_podman refuses a user whose containers cannot run a kubelet.
check_podman() {
	[[ $engine == podman ]] && ((EUID != 0)) || return 0
	[[ -e /sys/fs/cgroup/cgroup.controllers ]] ||
		refuse_engine 'podman without root needs control groups of version 2, and this machine has version 1: run it as root, or use Docker'
	grep -qw cpu "/sys/fs/cgroup/user.slice/user-$EUID.slice/user@$EUID.service/cgroup.controllers" 2>/dev/null ||
		refuse_engine "podman without root needs the control group \"cpu\" delegated to the user $EUID: see" \
			'https://kind.sigs.k8s.io/docs/user/rootless, or run it as root'
}

# check_modules makes sure that there is the folder that kind mounts into each node.
check_modules() {
	[[ $(uname) == Linux && ! -d /lib/modules ]] || return 0
	mkdir -p /lib/modules 2>/dev/null || refuse_engine 'the folder /lib/modules is missing, which kind mounts: as root, mkdir -p /lib/modules'
}

# check_disk looks where the engine keeps images, and at the checkout.
check_disk() {
	local folder free
	for folder in "$root" "$("$engine" info --format "$([[ $engine == podman ]] && echo '{{.Store.GraphRoot}}' || echo '{{.DockerRootDir}}')")"; do
		# That of an engine in a virtual machine is not here.
		[[ -d $folder ]] || continue
		free=$(df -Pm "$folder" | awk 'NR == 2 { print $4 }')
		((free >= need_mib)) || refuse_engine "$folder has $free MiB of free disk, and $need_mib MiB are needed"
	done
}

# check_inotify refuses limits with which the kubelet of a node ends with "too many open files".
check_inotify() {
	local file=/proc/sys/fs/inotify/max_user_instances have need=$((64 * NODES))
	[[ -r $file ]] || return 0
	have=$(<"$file")
	((have >= need)) || sysctl -qw "fs.inotify.max_user_instances=$need" 2>/dev/null ||
		refuse_engine "$NODES nodes need fs.inotify.max_user_instances of $need, and it is $have: as root, sysctl -w fs.inotify.max_user_instances=$need"
}

# check_free refuses a port that something else uses.
check_free() {
	! (exec 3<>"/dev/tcp/127.0.0.1/$KIND_HOST_PORT") 2>/dev/null ||
		refuse_engine "port $KIND_HOST_PORT of 127.0.0.1, at which the Gateway is to be reached, is taken: set KIND_HOST_PORT to another one"
}
