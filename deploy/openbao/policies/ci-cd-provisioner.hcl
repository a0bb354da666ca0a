# For a pipeline that stores initial secrets and checks whether they exist.

path "kv-v2/data/bootstrap/*" {
  capabilities = ["create", "update"]
}

path "kv-v2/metadata/bootstrap/*" {
  capabilities = ["create", "read", "update", "list"]
}

path "kv-v2/data/infrastructure/*" {
  capabilities = ["create", "update"]
}

path "kv-v2/metadata/infrastructure/*" {
  capabilities = ["create", "read", "update", "list"]
}

path "kv-v2/data/openstack/+/+/+/db" {
  capabilities = ["create", "update"]
}

path "kv-v2/metadata/openstack/+/+/+/db" {
  capabilities = ["create", "read", "update", "list"]
}
