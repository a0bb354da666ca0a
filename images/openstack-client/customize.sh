add_user openstack 42424 /var/lib/openstack
make_dir 42424 0755 /var/lib/openstack
install_ca_certificates
compile_python
check_version openstack
