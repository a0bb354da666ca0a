# A control plane's application credential goes into the store, and out of it with the
# control plane: a dead one would wedge the next of that name.

path "kv-v2/data/openstack/keystone/+/+/admin/app-credential" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/openstack/keystone/+/+/admin/app-credential" {
  capabilities = ["create", "read", "update", "delete"]
}
