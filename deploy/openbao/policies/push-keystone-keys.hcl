# Stores Keystone's keys, and deletes them together with their database.

path "kv-v2/data/openstack/keystone/+/+/fernet-keys" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/openstack/keystone/+/+/fernet-keys" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/data/openstack/keystone/+/+/credential-keys" {
  capabilities = ["create", "read", "update", "delete"]
}

path "kv-v2/metadata/openstack/keystone/+/+/credential-keys" {
  capabilities = ["create", "read", "update", "delete"]
}
