tests=/usr/lib/forge-placement-tests
add_user openstack 42424 /tmp
make_dir 0 0755 "$tests"
install -m 0644 "$image_dir"/{api,identity,objects,proxy}.py "$image_dir/excluded.yaml" "$root$tests/"
install -m 0755 "$image_dir/main.py" "$root$tests/"
install_ca_certificates
compile_python placement/tests
# A package that was left out by mistake fails here.
chroot "$root" "$tests/main.py" --list >/dev/null
