# The user of the official image; mariadb-operator sets the same one.
add_user mysql 999 /var/lib/mysql
make_dir 999 0750 /var/lib/mysql
# Anybody may create the socket, so that another runAsUser works as well.
make_dir 999 1777 /run/mysqld
make_dir 0 0755 /etc/mysql/conf.d /etc/mysql/mariadb.conf.d
# mariadb-operator initialises a Galera cluster with the entrypoint of the official
# image, which lists this folder and calls awk by that name.
make_dir 0 0755 /docker-entrypoint-initdb.d
ln -sfn mawk "$root/usr/bin/awk"

rm -rf "$root"/etc/mysql/{conf.d,mariadb.conf.d}/* "$root"/etc/mysql/m*.cnf*
install -m 0644 "$image_dir/my.cnf" "$root/etc/mysql/my.cnf"
install -m 0755 "$image_dir/docker-entrypoint.sh" "$root/usr/bin/docker-entrypoint.sh"

# Error messages in one language, no tools that need Perl, and none of the
# larger ones that nobody runs in a server's container.
find "$root/usr/share/mariadb" -mindepth 1 -maxdepth 1 -type d ! -name english ! -name charsets -exec rm -rf {} +
grep -lIZ -m1 '^#!.*perl' "$root"/usr/bin/* | xargs -0r rm -f
(cd "$root/usr/bin" && rm -f aria_* innochecksum mariadb-{conv,plugin,service-convert,slap,waitpid} mariadbd-safe* \
	myisam* mysql{_plugin,_waitpid,d_safe*,slap} perror replace resolve_stack_dump slabtop top watch)
rm -rf "$root"/usr/lib/mysql/plugin/auth_pam*

# A library that a stub keeps out would be missed only when a server joins a cluster.
for program in 'lsof -v' 'mariadb-backup --version' 'mbstream --help' 'ps --version' 'socat -V'; do
	chroot "$root" sh -c "$program" >/dev/null 2>&1 || { echo "images/mariadb: $program does not run" >&2; exit 1; }
done
check_version mariadbd
