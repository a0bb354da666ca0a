# Turns unpacked packages in /rootfs into the root file system of an image. The Dockerfiles of images of Debian
# packages source it, with the variable VERSION.
# shellcheck shell=dash
root=/rootfs
umask 022
# What Python compiles by itself is valid for one time of the source only: compile_python does better.
export PYTHONDONTWRITEBYTECODE=1

# fail MESSAGE... ends the build.
fail() {
	echo "error: $*" >&2
	exit 1
}

# inside COMMAND... runs a program of the image.
inside() { chroot $root "$@"; }

# add_user NAME ID HOME enters a user and a group of its own, besides those that every system has.
add_user() {
	printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n%s:x:%s:%s::%s:/usr/sbin/nologin\n' \
		"$1" "$2" "$2" "$3" >$root/etc/passwd
	printf 'root:x:0:\nnogroup:x:65534:\n%s:x:%s:\n' "$1" "$2" >$root/etc/group
}

# make_dir OWNER MODE PATH... creates directories inside the image.
make_dir() {
	local owner=$1 mode=$2 path
	shift 2
	for path; do install -d -o "$owner" -g "$owner" -m "$mode" "$root$path"; done
}

# install_ca_certificates does what the package's trigger would have done.
install_ca_certificates() {
	cp $root/usr/share/ca-certificates/mozilla/*.crt $root/etc/ssl/certs/
	cat $root/usr/share/ca-certificates/mozilla/*.crt >$root/etc/ssl/certs/ca-certificates.crt
	inside openssl rehash /etc/ssl/certs 2>/dev/null
}

# link_programs FOLDER NAME... makes links in the folder to programs of /usr/bin.
link_programs() {
	local folder=$1 name
	shift
	for name; do
		[ -e "$root/usr/bin/$name" ] || fail "the packages have no /usr/bin/$name"
		ln -sfn "/usr/bin/$name" "$root$folder/$name"
	done
}

# link_uwsgi FOLDER makes uWSGI available as "uwsgi", with a plugin "python3". Debian names its
# plugin after the version of Python.
link_uwsgi() {
	local plugin
	plugin=$(inside python3 -c 'import sys; print("python%d%d_plugin.so" % sys.version_info[:2])')
	[ -e "$root/usr/lib/uwsgi/plugins/$plugin" ] || fail "uWSGI has no $plugin for the Python of the image"
	ln -sfn "$plugin" $root/usr/lib/uwsgi/plugins/python3_plugin.so
	ln -sfn /usr/bin/uwsgi-core "$root$1/uwsgi"
}

# require_module NAME ends the build without that module. It is found without being imported.
require_module() {
	inside python3 -c 'import sys, importlib.util as u; sys.exit(u.find_spec(sys.argv[1]) is None)' "$1" || fail "there is no module $1"
}

# check_version PROGRAM asks the program in the image for its version.
check_version() {
	local answer
	answer=$(inside "$1" --version 2>/dev/null) || fail "$1 --version fails"
	case " $answer" in
	*" $VERSION".*) ;;
	*) fail "it has to have version $VERSION, but $1 says $answer" ;;
	esac
}

# require_libraries PROGRAM... ends the build if a library of the programs was left out. They are not run: some
# need more than a root file system.
require_libraries() {
	local program libraries
	for program; do
		libraries=$(inside sh -c 'export LD_TRACE_LOADED_OBJECTS=1; exec "$0"' "$program") || fail "$program does not load"
		case $libraries in
		*'not found'*) fail "$program lacks libraries: $libraries" ;;
		esac
	done
}

# compile_python [TESTS...] compiles once and for all. The time of a source file is no
# proof of freshness in an image whose files all have the same one, and a
# read-only root could not take the corrected .pyc. Templates that are no valid
# Python make compileall fail, which says nothing about the modules in use.
# It runs in one process: what a process has compiled before can show in its next .pyc.
# Tests of Python packages are removed, but for those named, such as package/tests.
compile_python() {
	local packages=$root/usr/lib/python3/dist-packages name
	for name; do
		shift
		set -- "$@" ! -path "$packages/$name" ! -path "$packages/$name/*"
	done
	find $packages -depth -type d \( -name __pycache__ -o -name tests "$@" \) -exec rm -rf {} +
	for name in test ensurepip idlelib tkinter turtledemo lib2to3/tests; do rm -rf $root/usr/lib/python3.*/$name; done
	inside sh -c 'exec python3 -m compileall -q --invalidation-mode unchecked-hash /usr/lib/python3*' || true
}

# finish removes what a container does not need and what the programs above have left behind.
finish() {
	local file
	rm -rf $root/root/.cache $root/tmp/* $root/var/cache $root/var/log $root/var/lib/apt $root/var/lib/dpkg \
		$root/etc/apt $root/etc/cron.daily $root/etc/init.d $root/etc/rc?.d $root/etc/logrotate.d $root/etc/systemd $root/etc/apparmor.d
	make_dir 0 0755 /var/cache /var/log /var/lib
	# A container has no use for programs that change its user.
	find $root/usr -type f -perm /6000 -exec chmod ug-s {} +
	# The container runtime mounts its own over them.
	for file in hostname resolv.conf hosts; do install -m 0644 /dev/null $root/etc/$file; done
	ln -sfn /usr/share/zoneinfo/Etc/UTC $root/etc/localtime
	ldconfig -r $root
	rm -f $root/var/cache/ldconfig/aux-cache
	# Everything is as old as the epoch, so that equal packages make an equal image.
	find $root -newermt @0 -exec touch --no-dereference --date=@0 {} +
}
