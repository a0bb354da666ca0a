# A rotated administrator's password goes into the store.

path "kv-v2/data/bootstrap/+/+/admin" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/bootstrap/+/+/admin" {
  capabilities = ["create", "read", "update", "delete"]
}
