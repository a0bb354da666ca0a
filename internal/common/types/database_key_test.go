package types

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/cluster"
)

func TestTheDatabaseKeyTellsDatabasesApart(t *testing.T) {
	key := func(namespace string, database DatabaseSpec) string {
		return database.Key(cluster.Settings{}, namespace)
	}
	managed := DatabaseSpec{ClusterRef: &corev1.LocalObjectReference{Name: "mariadb"}, Database: "keystone"}
	want := "mariadb.openstack:3306/keystone"
	if got := key("openstack", managed); got != want {
		t.Errorf("the database of a MariaDB: got %s, want %s", got, want)
	}
	host := func(name string) DatabaseSpec { return DatabaseSpec{Host: name, Database: "keystone"} }
	for name, database := range map[string]DatabaseSpec{
		"the Service":               host("mariadb"),
		"with its namespace":        host("mariadb.openstack"),
		"with svc":                  host("mariadb.openstack.svc"),
		"with the cluster's domain": host("mariadb.openstack.svc.cluster.local"),
		"with a dot at its end":     host("MariaDB.openstack.svc.cluster.local."),
		"with the default port":     {Host: "mariadb", Port: 3306, Database: "keystone"},
	} {
		if got := key("openstack", database); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	for name, other := range map[string]string{
		"a MariaDB of another namespace": key("other", managed),
		"another host":                   key("openstack", host("db.example.com")),
		"an address":                     key("openstack", host("fd00::1")),
		"another port":                   key("openstack", DatabaseSpec{Host: "mariadb", Port: 3307, Database: "keystone"}),
		"another database":               key("openstack", DatabaseSpec{Host: "mariadb", Database: "Keystone"}),
	} {
		if other == want {
			t.Errorf("%s has the same key", name)
		}
	}
}

func TestTheDatabaseKeyKnowsTheDomainOfTheCluster(t *testing.T) {
	in := cluster.Settings{Domain: "k8s.example.com"}
	managed := DatabaseSpec{ClusterRef: &corev1.LocalObjectReference{Name: "mariadb"}, Database: "keystone"}
	want := managed.Key(in, "openstack")
	same := DatabaseSpec{Host: "mariadb.openstack.svc.k8s.example.com", Database: "keystone"}
	if got := same.Key(in, "openstack"); got != want {
		t.Errorf("the Service's full name: got %s, want %s", got, want)
	}
	same.Host = "mariadb.openstack.svc.cluster.local"
	if got := same.Key(in, "openstack"); got == want {
		t.Errorf("a name of another domain has the same key %s", got)
	}
}
