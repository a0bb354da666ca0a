# Stores a control plane's application credential, and deletes it with the control
# plane: a stale one would block the next control plane of that name.

path "kv-v2/data/openstack/keystone/+/+/admin/app-credential" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/openstack/keystone/+/+/admin/app-credential" {
  capabilities = ["create", "read", "update", "delete"]
}
