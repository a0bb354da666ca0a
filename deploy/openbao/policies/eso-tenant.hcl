# For External Secrets on behalf of a tenant: what deployers and operators store for the
# namespace whose service account has logged in. @ACCESSOR@ is a placeholder for the
# accessor of the login at kubernetes/management.

path "kv-v2/data/bootstrap/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/bootstrap/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/*" {
  capabilities = ["read", "list"]
}

path "kv-v2/data/openstack/+/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/openstack/+/{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}/*" {
  capabilities = ["read", "list"]
}

# A tenant may have this namespace, too.
path "kv-v2/data/openstack/keystone/standalone/*" {
  capabilities = ["deny"]
}

path "kv-v2/metadata/openstack/keystone/standalone/*" {
  capabilities = ["deny"]
}
