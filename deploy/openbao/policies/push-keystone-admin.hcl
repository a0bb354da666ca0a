# Stores the administrator's rotated password. Each tenant has its own: see eso-tenant.hcl.

path "kv-v2/data/bootstrap/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/admin" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/bootstrap/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/+/admin" {
  capabilities = ["create", "read", "update", "delete"]
}
