# Stores a control plane's application credential, and deletes it with the control
# plane: a stale one would block the next control plane of that name. Each tenant has its
# own: see eso-tenant.hcl.

path "kv-v2/data/openstack/keystone/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/admin/app-credential" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/openstack/keystone/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/admin/app-credential" {
  capabilities = ["create", "read", "update", "delete"]
}
