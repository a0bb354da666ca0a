add_user openstack 42424 /var/lib/openstack
make_dir 0 0755 /var/lib/openstack /var/lib/openstack/bin \
	/etc/keystone /etc/keystone/keystone.conf.d
make_dir 42424 0700 /etc/keystone/fernet-keys /etc/keystone/credential-keys

# Where the images of this family keep their programs.
for tool in keystone-manage keystone-status keystone-wsgi-admin keystone-wsgi-public python3 \
	oslo-config-validator oslopolicy-checker oslopolicy-list-redundant oslopolicy-policy-generator \
	oslopolicy-policy-upgrade oslopolicy-sample-generator oslopolicy-validator; do
	[[ -e $root/usr/bin/$tool ]] || { echo "keystone: /usr/bin/$tool is missing from the packages" >&2; exit 1; }
	ln -sfn "/usr/bin/$tool" "$root/var/lib/openstack/bin/$tool"
done
ln -sfn /usr/bin/uwsgi-core "$root/var/lib/openstack/bin/uwsgi"
ln -sfn python311_plugin.so "$root/usr/lib/uwsgi/plugins/python3_plugin.so"

# Keystone translates with gettext; of these tables only the language names that
# every locale inherits are ever read.
find "$root/usr/share/python-babel-localedata/locale-data" -name "*.dat" ! -name root.dat ! -name "en*.dat" -delete

install_ca_certificates
compile_python
chroot "$root" /usr/bin/python3 - keystone osprofiler.web <"$image_dir/../check-imports.py"
