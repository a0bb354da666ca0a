# External Secrets of a cluster of hypervisors: what Nova and Neutron agents need.

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
