# For External Secrets of a cluster of hypervisors: the secrets of the Nova and
# Neutron agents.

path "kv-v2/data/openstack/nova/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/openstack/nova/*" {
  capabilities = ["read", "list"]
}

path "kv-v2/data/openstack/neutron/*" {
  capabilities = ["read"]
}

path "kv-v2/metadata/openstack/neutron/*" {
  capabilities = ["read", "list"]
}

path "kv-v2/data/ceph/client-nova" {
  capabilities = ["read"]
}

path "kv-v2/metadata/ceph/client-nova" {
  capabilities = ["read", "list"]
}
