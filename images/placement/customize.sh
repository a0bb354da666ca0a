programs=/var/lib/openstack/bin
add_user openstack 42424 /var/lib/openstack
make_dir 0 0755 /var/lib/openstack "$programs" /etc/placement /etc/placement/placement.conf.d

# Where the images of this family keep their programs.
link_programs "$programs" placement-manage placement-status python3 \
	oslo-config-validator oslopolicy-checker oslopolicy-list-redundant oslopolicy-policy-generator \
	oslopolicy-policy-upgrade oslopolicy-sample-generator oslopolicy-validator
link_uwsgi "$programs"
# Releases later than these have the API as a module only.
case $release in
2022.2 | 2025.1) link_programs "$programs" placement-api ;;
*) require_module placement.wsgi.api ;;
esac

install_ca_certificates
compile_python
chroot "$root" /usr/bin/python3 - placement <"$image_dir/../check-imports.py"
check_version placement-manage
