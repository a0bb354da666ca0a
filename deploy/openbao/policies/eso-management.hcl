# For External Secrets of the management cluster: the secrets of no tenant, which only the
# namespaces in deploy/infrastructure/store may read.

path "kv-v2/data/infrastructure/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/infrastructure/*" {
  capabilities = ["read", "list"]
}

path "kv-v2/data/openstack/keystone/standalone/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/openstack/keystone/standalone/*" {
  capabilities = ["read", "list"]
}
