# A Keystone draws database credentials of its own namespace and of no other.
# @ACCESSOR@ stands for the accessor of the login at kubernetes/management.

path "database/mariadb/creds/keystone-{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}" {
  capabilities = ["read"]
}
