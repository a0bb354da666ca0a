# Stores the administrator's rotated password.

path "kv-v2/data/bootstrap/+/+/admin" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/bootstrap/+/+/admin" {
  capabilities = ["create", "read", "update", "delete"]
}
