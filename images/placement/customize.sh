add_user openstack 42424 /var/lib/openstack
make_dir 0 0755 /var/lib/openstack /var/lib/openstack/bin /etc/placement /etc/placement/placement.conf.d

# Where the images of this family keep their programs.
for tool in placement-manage placement-status placement-api python3 \
	oslo-config-validator oslopolicy-checker oslopolicy-list-redundant oslopolicy-policy-generator \
	oslopolicy-policy-upgrade oslopolicy-sample-generator oslopolicy-validator; do
	[[ -e $root/usr/bin/$tool ]] || { echo "placement: /usr/bin/$tool is missing from the packages" >&2; exit 1; }
	ln -sfn "/usr/bin/$tool" "$root/var/lib/openstack/bin/$tool"
done
ln -sfn /usr/bin/uwsgi-core "$root/var/lib/openstack/bin/uwsgi"
ln -sfn python311_plugin.so "$root/usr/lib/uwsgi/plugins/python3_plugin.so"

install_ca_certificates
compile_python
chroot "$root" /usr/bin/python3 - placement <"$image_dir/../check-imports.py"
