# Stores Barbican's key-encryption key, and deletes it together with its database. Each tenant
# has its own: see eso-tenant.hcl.

path "kv-v2/data/openstack/barbican/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/key-encryption-key" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/openstack/barbican/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/key-encryption-key" {
  capabilities = ["create", "read", "update", "delete"]
}
