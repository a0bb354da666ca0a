#!/bin/bash
# Turns unpacked packages into the root file system of an image:
#
#   prepare-rootfs.sh ROOT IMAGE_DIR RELEASE VERSION
set -euo pipefail
root=$1 image_dir=$2 release=$3 version=$4
image=${image_dir##*/}
umask 022

# add_user NAME ID HOME enters a user and a group of its own.
add_user() {
	echo "$1:x:$2:$2::$3:/usr/sbin/nologin" >>"$root/etc/passwd"
	echo "$1:x:$2:" >>"$root/etc/group"
}

# make_dir OWNER MODE PATH... creates directories inside the image.
make_dir() {
	local owner=$1 mode=$2 path
	shift 2
	for path; do install -d -o "$owner" -g "$owner" -m "$mode" "$root$path"; done
}

# install_ca_certificates does what the package's trigger would have done.
install_ca_certificates() {
	cp "$root"/usr/share/ca-certificates/mozilla/*.crt "$root/etc/ssl/certs/"
	cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
	chroot "$root" openssl rehash /etc/ssl/certs 2>/dev/null
}

# fail MESSAGE... ends the build.
fail() {
	echo "images/$image, $release: $*" >&2
	exit 1
}

# link_programs FOLDER NAME... makes links in the folder to programs of /usr/bin.
link_programs() {
	local folder=$1 name
	shift
	for name; do
		[[ -e $root/usr/bin/$name ]] || fail "the packages have no /usr/bin/$name"
		ln -sfn "/usr/bin/$name" "$root$folder/$name"
	done
}

# link_uwsgi FOLDER makes uWSGI available as "uwsgi", with a plugin "python3". Debian names its
# plugin after the version of Python.
link_uwsgi() {
	local plugin
	plugin=$(chroot "$root" python3 -c 'import sys; print("python%d%d_plugin.so" % sys.version_info[:2])')
	[[ -e $root/usr/lib/uwsgi/plugins/$plugin ]] || fail "uWSGI has no $plugin for the Python of the image"
	ln -sfn "$plugin" "$root/usr/lib/uwsgi/plugins/python3_plugin.so"
	ln -sfn /usr/bin/uwsgi-core "$root$1/uwsgi"
}

# require_module NAME ends the build without that module. It is found without being imported.
require_module() {
	chroot "$root" python3 -c 'import sys, importlib.util as u; sys.exit(u.find_spec(sys.argv[1]) is None)' "$1" || fail "there is no module $1"
}

# check_version PROGRAM asks the program in the image for its version.
check_version() {
	local answer
	answer=$(chroot "$root" "$1" --version 2>/dev/null) || fail "$1 --version fails"
	[[ " $answer" == *" $version".* ]] || fail "it has to have version $version, but $1 says $answer"
}

# compile_python [TESTS...] compiles once and for all. The time of a source file is no
# proof of freshness in an image whose files all have the same one, and a
# read-only root could not take the corrected .pyc. Templates that are no valid
# Python make compileall fail, which says nothing about the modules in use.
# Tests of Python packages are removed, but for those named, such as package/tests.
compile_python() {
	local packages=$root/usr/lib/python3/dist-packages kept=() name
	for name; do kept+=(! -path "$packages/$name" ! -path "$packages/$name/*"); done
	find "$packages" -depth -type d \( -name __pycache__ -o -name tests "${kept[@]}" \) -exec rm -rf {} +
	rm -rf "$root"/usr/lib/python3.*/{test,ensurepip,idlelib,tkinter,turtledemo,lib2to3/tests}
	chroot "$root" sh -c 'exec python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /usr/lib/python3*' || true
}

printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n' >"$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"

rm -rf "$root"/{run,tmp}/*

[[ ! -f $image_dir/customize.sh ]] || . "$image_dir/customize.sh"

# Programs that customize.sh tried out leave caches keyed by the build's paths
# and times.
rm -rf "$root/root/.cache"
rm -rf "$root"/usr/share/{doc,man,info,locale,lintian,menu,bug,pixmaps,bash-completion,perl5} \
	"$root"/var/{cache,log,lib/apt,lib/dpkg} "$root"/etc/{apt,cron.daily,init.d,rc?.d,logrotate.d,systemd,apparmor.d}
make_dir root 0755 /var/cache /var/log /var/lib
# A container has no use for programs that change its user.
find "$root/usr" -type f -perm /6000 -exec chmod ug-s {} +
# The container runtime mounts its own over them; the host's must not show.
for file in hostname resolv.conf hosts; do install -m 0644 /dev/null "$root/etc/$file"; done
ln -sfn /usr/share/zoneinfo/Etc/UTC "$root/etc/localtime"
ldconfig -r "$root"
rm -f "$root/var/cache/ldconfig/aux-cache"
