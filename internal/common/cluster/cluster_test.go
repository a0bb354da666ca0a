package cluster

import "testing"

func TestStorePathsArePrefixedWithTheClusterName(t *testing.T) {
	for name, want := range map[string]string{"": "openstack/keystone/ns", "east": "east/openstack/keystone/ns"} {
		if got := (Settings{Name: name}).StorePath("openstack", "keystone", "ns"); got != want {
			t.Errorf("in cluster %q it is %q, want %q", name, got, want)
		}
	}
}

func TestServicesHaveTheDomainOfTheCluster(t *testing.T) {
	for domain, want := range map[string]string{
		"": "keystone.openstack.svc.cluster.local", "k8s.example.com": "keystone.openstack.svc.k8s.example.com",
	} {
		settings := Settings{Domain: domain}
		if got := settings.ServiceHost("keystone", "openstack"); got != want {
			t.Errorf("in domain %q it is %q, want %q", domain, got, want)
		}
		if got := settings.TrimDomain(want); got != "keystone.openstack.svc" {
			t.Errorf("in domain %q there is left %q of %q", domain, got, want)
		}
	}
	if got := (Settings{Domain: "k8s.example.com"}).TrimDomain("db.cluster.local"); got != "db.cluster.local" {
		t.Errorf("there is left %q of a name of another domain", got)
	}
}
