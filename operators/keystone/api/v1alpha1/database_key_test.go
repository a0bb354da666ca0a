package v1alpha1

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestTheDatabaseKeyTellsDatabasesApart(t *testing.T) {
	key := func(namespace string, database commonv1.DatabaseSpec) string {
		k := &Keystone{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}}
		k.Spec.Database = database
		return k.DatabaseKey(cluster.Settings{})
	}
	managed := commonv1.DatabaseSpec{ClusterRef: &corev1.LocalObjectReference{Name: "mariadb"}, Database: "keystone"}
	want := "mariadb.openstack:3306/keystone"
	if got := key("openstack", managed); got != want {
		t.Errorf("the database of a MariaDB: got %s, want %s", got, want)
	}
	host := func(name string) commonv1.DatabaseSpec {
		return commonv1.DatabaseSpec{Host: name, Database: "keystone"}
	}
	for name, database := range map[string]commonv1.DatabaseSpec{
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
		"another port":                   key("openstack", commonv1.DatabaseSpec{Host: "mariadb", Port: 3307, Database: "keystone"}),
		"another database":               key("openstack", commonv1.DatabaseSpec{Host: "mariadb", Database: "Keystone"}),
	} {
		if other == want {
			t.Errorf("%s has the same key", name)
		}
	}
}

func TestTheDatabaseKeyKnowsTheDomainOfTheCluster(t *testing.T) {
	in := cluster.Settings{Domain: "k8s.example.com"}
	k := &Keystone{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack"}}
	k.Spec.Database = commonv1.DatabaseSpec{ClusterRef: &corev1.LocalObjectReference{Name: "mariadb"}, Database: "keystone"}
	same := k.DeepCopy()
	same.Spec.Database = commonv1.DatabaseSpec{Host: "mariadb.openstack.svc.k8s.example.com", Database: "keystone"}
	if got, want := same.DatabaseKey(in), k.DatabaseKey(in); got != want {
		t.Errorf("the Service's full name: got %s, want %s", got, want)
	}
	same.Spec.Database.Host = "mariadb.openstack.svc.cluster.local"
	if got := same.DatabaseKey(in); got == k.DatabaseKey(in) {
		t.Errorf("a name of another domain has the same key %s", got)
	}
}

func TestTheOldestKeystoneIsTheFirstOne(t *testing.T) {
	if OldestOf(nil) != nil {
		t.Error("an empty list has an oldest Keystone")
	}
	created := func(namespace, name string, second int64) Keystone {
		return Keystone{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(time.Unix(second, 0)),
		}}
	}
	list := []Keystone{created("a", "late", 2), created("b", "a", 1), created("a", "b", 1)}
	if got := OldestOf(list); got.Namespace != "a" || got.Name != "b" {
		t.Errorf("got %s/%s, want a/b", got.Namespace, got.Name)
	}
}
