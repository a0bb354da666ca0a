# For External Secrets of the management cluster: the secrets that deployers and
# operators store.

path "kv-v2/data/bootstrap/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/bootstrap/*" {
  capabilities = ["read", "list"]
}

path "kv-v2/data/infrastructure/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/infrastructure/*" {
  capabilities = ["read", "list"]
}

path "kv-v2/data/openstack/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/openstack/*" {
  capabilities = ["read", "list"]
}
