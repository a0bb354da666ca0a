tests=/usr/lib/forge-tempest
add_user openstack 42424 /tmp
make_dir 0 0755 "$tests"
install -m 0644 "$image_dir"/{conf,runner,selection}.py "$image_dir"/{excluded,short}.yaml "$root$tests/"
install -m 0755 "$image_dir/main.py" "$root$tests/"
install_ca_certificates
compile_python keystone_tempest_plugin/tests
check_version tempest
# A package that was left out by mistake fails here.
chroot "$root" "$tests/main.py" --list >/dev/null
