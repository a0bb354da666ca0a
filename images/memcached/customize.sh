# The user of the official image.
add_user memcache 11211 /nonexistent
install -m 0755 "$image_dir/docker-entrypoint.sh" "$root/usr/bin/docker-entrypoint.sh"
check_version memcached
