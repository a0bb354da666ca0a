# For External Secrets of a control plane's cluster: the secrets of its services.

path "kv-v2/data/openstack/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/openstack/*" {
  capabilities = ["read", "list"]
}

path "kv-v2/data/infrastructure/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/infrastructure/*" {
  capabilities = ["read", "list"]
}
