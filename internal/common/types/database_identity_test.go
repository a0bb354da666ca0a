package types

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/cluster"
)

func ofMariaDB(name string) DatabaseSpec {
	return DatabaseSpec{ClusterRef: &corev1.LocalObjectReference{Name: name}, Database: "keystone"}
}

func onHost(name string) DatabaseSpec { return DatabaseSpec{Host: name, Database: "keystone"} }

func identity(namespace string, database DatabaseSpec) DatabaseIdentity {
	return database.Identity(cluster.Settings{}, namespace)
}

func TestDatabaseIdentityRecognisesAllAddressesOfADatabase(t *testing.T) {
	managed := identity("openstack", ofMariaDB("mariadb"))
	if got, want := managed.String(), "mariadb.openstack/keystone"; got != want {
		t.Errorf("the database of a MariaDB: got %s, want %s", got, want)
	}
	otherPort := ofMariaDB("mariadb")
	otherPort.Port = 3307
	for name, database := range map[string]DatabaseSpec{
		"the MariaDB with a port":       otherPort,
		"the Service":                   onHost("mariadb"),
		"with its namespace":            onHost("mariadb.openstack"),
		"with svc":                      onHost("mariadb.openstack.svc"),
		"with the cluster's domain":     onHost("mariadb.openstack.svc.cluster.local"),
		"with a dot at its end":         onHost("MariaDB.openstack.svc.cluster.local."),
		"with the default port":         {Host: "mariadb", Port: 3306, Database: "keystone"},
		"the Service of the primary":    onHost("mariadb-primary"),
		"the Service of the replicas":   onHost("mariadb-secondary.openstack"),
		"the headless Service":          onHost("mariadb-internal.openstack.svc"),
		"the Service of its MaxScale":   onHost("mariadb-maxscale.openstack.svc"),
		"the headless one of that":      onHost("mariadb-maxscale-internal.openstack.svc"),
		"one of its servers":            onHost("mariadb-0.mariadb-internal.openstack.svc.cluster.local"),
		"the Service at another port":   {Host: "mariadb.openstack.svc", Port: 3307, Database: "keystone"},
		"the primary at the other port": {Host: "mariadb-primary", Port: 3307, Database: "keystone"},
		"a server, from its namespace":  onHost("mariadb-0.mariadb-internal"),
		"a server, without svc":         onHost("mariadb-1.mariadb-internal.openstack"),
		"a server of its MaxScale":      onHost("mariadb-maxscale-0.mariadb-maxscale-internal.openstack.svc"),
	} {
		got := identity("openstack", database)
		if !got.Same(managed) || !managed.Same(got) {
			t.Errorf("%s: %s is another database than %s", name, got, managed)
		}
		if !got.IsAtHome("openstack") || got.IsAtHome("other") {
			t.Errorf("%s: the Service of %s is not that of its namespace", name, got)
		}
	}
	for name, other := range map[string]DatabaseIdentity{
		"a MariaDB of another namespace":   identity("other", ofMariaDB("mariadb")),
		"a MariaDB with such a name":       identity("openstack", ofMariaDB("mariadb-primary")),
		"another host":                     identity("openstack", onHost("db.example.com")),
		"an address":                       identity("openstack", onHost("fd00::1")),
		"a Service of another MariaDB":     identity("openstack", onHost("mariadb-two-primary")),
		"a server of another MariaDB":      identity("openstack", onHost("other-0.mariadb-internal.openstack.svc")),
		"a host with such a name, outside": identity("openstack", onHost("mariadb-0.mariadb-internal.example.com")),
		"another database":                 identity("openstack", DatabaseSpec{Host: "mariadb", Database: "Keystone"}),
	} {
		if other.Same(managed) || managed.Same(other) {
			t.Errorf("%s: %s counts as %s", name, other, managed)
		}
	}
}

func TestAnAmbiguousServiceMatchesEitherMariaDB(t *testing.T) {
	service := identity("openstack", onHost("mariadb-primary"))
	for _, name := range []string{"mariadb", "mariadb-primary"} {
		if managed := identity("openstack", ofMariaDB(name)); !service.Same(managed) || !managed.Same(service) {
			t.Errorf("%s is another database than %s", service, managed)
		}
	}
}

func TestServicesOfAMariaDBWithASuffixedNameAreRecognised(t *testing.T) {
	for _, name := range []string{"mariadb-primary", "mariadb-maxscale", "mariadb"} {
		managed, service := identity("openstack", ofMariaDB(name)), identity("openstack", onHost(name+"-internal"))
		if !service.Same(managed) || !managed.Same(service) {
			t.Errorf("%s is another database than %s", service, managed)
		}
	}
	service := identity("openstack", onHost("mariadb-0.mariadb-internal"))
	if other := identity("mariadb-internal", onHost("mariadb-0")); !service.Same(other) {
		t.Errorf("%s is another database than %s, which it is where there is no such MariaDB", service, other)
	}
}

func TestAHostInANamespaceCalledSvcIsNotInTheOwnNamespace(t *testing.T) {
	if got := identity("openstack", onHost("mariadb.svc")); got.IsAtHome("openstack") || !got.Same(identity("svc", ofMariaDB("mariadb"))) {
		t.Errorf("it is %s", got)
	}
}

func TestAnAddressIsTheSameInEveryFormThatTheResolverTakes(t *testing.T) {
	want := identity("a", onHost("10.0.0.1"))
	for _, spelling := range []string{"10.1", "10.0.1", "167772161", "0xa000001", "0xA.0.0.1", "012.0.0.1", "10.0.0.01", "::ffff:10.0.0.1"} {
		if got := identity("b", onHost(spelling)); !got.Same(want) || got.IsAtHome("b") {
			t.Errorf("%s counts as another server: %s", spelling, got)
		}
	}
	for _, other := range []string{"10.0.0.2", "10.0.0.0.1", "10.256.1", "0x10.example.com", "4294967296", "09"} {
		if got := identity("b", onHost(other)); got.Same(want) {
			t.Errorf("%s counts as %s", other, want)
		}
	}
}

func TestExternalDatabaseServersAreDistinguishedByPort(t *testing.T) {
	one, two := onHost("db.example.com"), onHost("db.example.com")
	two.Port = 3307
	if identity("a", one).Same(identity("b", two)) {
		t.Error("another port counts as the same server")
	}
	if !identity("a", one).Same(identity("b", onHost("DB.example.com."))) {
		t.Error("another spelling counts as another server")
	}
	if identity("a", one).IsAtHome("example") || identity("a", one).IsAtHome("") {
		t.Error("a server outside the cluster has a namespace")
	}
	for _, spelling := range []string{"FD00::1", "fd00:0:0:0:0:0:0:1"} {
		if got := identity("a", onHost(spelling)); !got.Same(identity("b", onHost("fd00::1"))) {
			t.Errorf("%s counts as another server: %s", spelling, got)
		}
	}
}

func TestTheIdentityOfADatabaseKnowsTheDomainOfTheCluster(t *testing.T) {
	in := cluster.Settings{Domain: "K8s.example.com"}
	managed := ofMariaDB("mariadb").Identity(in, "openstack")
	if got := onHost("mariadb.openstack.svc.k8s.example.com").Identity(in, "openstack"); !got.Same(managed) {
		t.Errorf("the Service's full name: got %s, want %s", got, managed)
	}
	if got := onHost("mariadb.openstack.svc.cluster.local").Identity(in, "openstack"); got.Same(managed) {
		t.Errorf("a name of another domain has the same identity %s", got)
	}
}

func TestADatabaseIdentityRoundTripsThroughItsString(t *testing.T) {
	for _, database := range []DatabaseSpec{
		ofMariaDB("mariadb"), onHost("mariadb-primary"), onHost("db.example.com"), onHost("fd00::1"), onHost("10.0.0.1"),
	} {
		want := identity("openstack", database)
		got, ok := ParseDatabaseIdentity(want.String())
		if !ok || !got.Same(want) || got.String() != want.String() {
			t.Errorf("%s became %s, %t", want, got, ok)
		}
	}
	for _, text := range []string{"", "mariadb.openstack", "/keystone", "mariadb/", "mariadb:port/keystone"} {
		if got, ok := ParseDatabaseIdentity(text); ok {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}
