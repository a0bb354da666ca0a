# Stores Keystone's keys, and deletes them together with their database. Each tenant has
# its own: see eso-tenant.hcl.

path "kv-v2/data/openstack/keystone/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/fernet-keys" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/openstack/keystone/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/fernet-keys" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/data/openstack/keystone/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/credential-keys" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/openstack/keystone/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/credential-keys" {
  capabilities = ["create", "read", "update", "delete"]
}
