# For the storage cluster: stores the keys of Ceph's clients.

path "kv-v2/data/ceph/+" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/ceph/+" {
  capabilities = ["create", "read", "update", "delete"]
}
