programs=/var/lib/openstack/bin
add_user openstack 42424 /var/lib/openstack
make_dir 0 0755 /var/lib/openstack "$programs" /etc/keystone /etc/keystone/keystone.conf.d
make_dir 42424 0700 /etc/keystone/fernet-keys /etc/keystone/credential-keys

# Where the images of this family keep their programs.
link_programs "$programs" keystone-manage keystone-status python3 \
	oslo-config-validator oslopolicy-checker oslopolicy-list-redundant oslopolicy-policy-generator \
	oslopolicy-policy-upgrade oslopolicy-sample-generator oslopolicy-validator
link_uwsgi "$programs"
# Releases later than these have the API as a module only.
case $release in
2022.2 | 2025.1) link_programs "$programs" keystone-wsgi-admin keystone-wsgi-public ;;
*) require_module keystone.wsgi.api ;;
esac

# Keystone translates with gettext; of these tables only the language names that
# every locale inherits are ever read.
find "$root/usr/share/python-babel-localedata/locale-data" -name "*.dat" ! -name root.dat ! -name "en*.dat" -delete

install_ca_certificates
compile_python
chroot "$root" /usr/bin/python3 - keystone osprofiler.web <"$image_dir/../check-imports.py"
check_version keystone-manage
