# A Keystone can request database credentials of its own namespace only. @ACCESSOR@
# is a placeholder for the accessor of the login at kubernetes/management.

path "database/mariadb/creds/keystone-{{identity.entity.aliases.@ACCESSOR@.metadata.service_account_namespace}}" {
  capabilities = ["read"]
}
