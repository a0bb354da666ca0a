# For External Secrets of a control plane's cluster on behalf of a tenant: the secrets of
# the services in the namespace whose service account has logged in.
# @CONTROL_PLANE_ACCESSOR@ is a placeholder for the accessor of the login at
# kubernetes/control-plane.

path "kv-v2/data/openstack/+/{{identity.entity.aliases.@CONTROL_PLANE_ACCESSOR@.metadata.service_account_namespace}}/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/openstack/+/{{identity.entity.aliases.@CONTROL_PLANE_ACCESSOR@.metadata.service_account_namespace}}/*" {
  capabilities = ["read", "list"]
}
