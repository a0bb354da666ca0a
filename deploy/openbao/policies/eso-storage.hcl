# For External Secrets of a storage cluster: the keys of Ceph's clients.

path "kv-v2/data/ceph/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/ceph/*" {
  capabilities = ["read", "list"]
}
