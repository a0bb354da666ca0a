package sharing

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

var start = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

// claim is that of a Harbour which was created some minutes after the start.
func claim(namespace, host string, minute int, changes ...func(*Claim)) Claim {
	database := commonv1.DatabaseSpec{Host: host, Database: "harbour"}
	c := Claim{
		Kind: "Harbour", Namespace: namespace, Name: "harbour", Created: metav1.NewTime(start.Add(time.Duration(minute) * time.Minute)),
		Database: database.Identity(cluster.Settings{}, namespace),
	}
	for _, change := range changes {
		change(&c)
	}
	return c
}

func installed(c *Claim) { c.Installed = true }

func TestExactlyOneOfTwoClaimsHasPrecedence(t *testing.T) {
	const inside, outside = "mariadb.openstack.svc", "db.example.com"
	now := start.Add(time.Hour)
	for name, c := range map[string]struct{ first, second Claim }{
		"the older one of a namespace":      {claim("a", outside, 0), claim("a", outside, 1)},
		"the one that has installed it":     {claim("a", outside, 1, installed), claim("a", outside, 0)},
		"the one beside the MariaDB":        {claim("openstack", inside, 1), claim("a", inside, 0, installed)},
		"the older of two elsewhere":        {claim("a", outside, 0, installed), claim("b", outside, 1, installed)},
		"the only one with a proven login":  {claim("b", outside, 1, installed), claim("a", outside, 0)},
		"the first of two of the same time": {claim("a", outside, 0, installed), claim("b", outside, 0, installed)},
	} {
		precedes, until := c.first.Precedes(c.second, now)
		if !precedes || !until.IsZero() {
			t.Errorf("%s: has it %t, until %s", name, precedes, until)
		}
		if reverse, _ := c.second.Precedes(c.first, now); reverse {
			t.Errorf("%s: the other one has it, too", name)
		}
	}
}

func TestAnUnverifiedForeignClaimCountsOnlyForAGracePeriod(t *testing.T) {
	older, younger := claim("a", "db.example.com", 0), claim("b", "db.example.com", 1)
	precedes, until := older.Precedes(younger, start.Add(2*time.Minute))
	if !precedes || !until.Equal(start.Add(Grace)) {
		t.Errorf("at first: %t, until %s", precedes, until)
	}
	if precedes, _ := older.Precedes(younger, start.Add(Grace)); precedes {
		t.Error("it still counts at the end of that time")
	}
	if precedes, _ := younger.Precedes(older, start.Add(2*time.Minute)); precedes {
		t.Error("the younger one counts")
	}
}

func TestANewResourceIsRefusedByAValidClaim(t *testing.T) {
	const inside, outside = "mariadb.openstack.svc", "db.example.com"
	for name, c := range map[string]struct {
		other, newcomer Claim
		want            bool
	}{
		"one of its own namespace":                    {claim("a", outside, 0), claim("a", outside, 0), true},
		"another namespace with a proven login":       {claim("b", outside, 0, installed), claim("a", outside, 0), true},
		"another namespace without a proven login":    {claim("b", outside, 0), claim("a", outside, 0), false},
		"one beside the MariaDB":                      {claim("openstack", inside, 0), claim("a", inside, 0), true},
		"one elsewhere, while it is near":             {claim("a", inside, 0, installed), claim("openstack", inside, 0), false},
		"one of another kind in the same namespace":   {claim("a", outside, 0, func(c *Claim) { c.Kind = "Pier" }), claim("a", outside, 0), true},
		"one beside the MariaDB, while it is as near": {claim("openstack", inside, 0), claim("openstack", inside, 0), true},
	} {
		if got := c.other.Refuses(c.newcomer); got != c.want {
			t.Errorf("%s: refuses it %t, want %t", name, got, c.want)
		}
	}
}

func TestADeletedResourceHasDataOnlyIfItIsRetained(t *testing.T) {
	for name, c := range map[string]struct {
		claim Claim
		want  bool
	}{
		"before it has any":                            {Claim{}, false},
		"once it has":                                  {Claim{Installed: true}, true},
		"while it is being deleted":                    {Claim{Installed: true, Deleting: true}, false},
		"while it is being deleted and keeps its data": {Claim{Installed: true, Deleting: true, Keeps: true}, true},
	} {
		if got := c.claim.HasData(); got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestTheClaimOfAnotherKindIsReadFromItsResource(t *testing.T) {
	object := Object(kinds[0])
	object.Object["metadata"] = map[string]any{
		"namespace": "openstack", "name": "keystone", "uid": "uid", "creationTimestamp": "2026-11-27T12:00:00Z",
		"labels": map[string]any{"dropped": "yes"},
	}
	object.Object["spec"] = map[string]any{
		"replicas": int64(3), "deletionPolicy": "Retain",
		"database": map[string]any{"clusterRef": map[string]any{"name": "mariadb"}, "database": "harbour", "port": int64(3307)},
	}
	object.Object["status"] = map[string]any{"installedRelease": "2025.2", "endpoint": "dropped"}
	want := FromObject(object, cluster.Settings{})
	if want.String() != "Keystone keystone of namespace openstack" || !want.Installed || !want.Keeps || want.Deleting ||
		!want.Created.Time.Equal(start) || want.UID != "uid" || want.Database.String() != "mariadb.openstack/harbour" {
		t.Errorf("got %+v", want)
	}
	Trim(object)
	if got := FromObject(object, cluster.Settings{}); got != want {
		t.Errorf("what the cache keeps says %+v, want %+v", got, want)
	}
	left := map[string]any{
		"apiVersion": "keystone.openstack.c5c3.io/v1alpha1", "kind": "Keystone",
		"metadata": map[string]any{"namespace": "openstack", "name": "keystone", "uid": "uid", "creationTimestamp": "2026-11-27T12:00:00Z"},
		"spec": map[string]any{
			"deletionPolicy": "Retain",
			"database":       map[string]any{"clusterRef": map[string]any{"name": "mariadb"}, "database": "harbour", "port": int64(3307)},
		},
		"status": map[string]any{"installedRelease": "2025.2"},
	}
	if diff := cmp.Diff(left, object.Object); diff != "" {
		t.Errorf("in the cache (-want +got):\n%s", diff)
	}
	object.Object["spec"] = map[string]any{"database": map[string]any{"host": "db.example.com", "database": "harbour"}}
	if got := FromObject(object, cluster.Settings{}); got.Database.String() != "db.example.com:3306/harbour" || !got.Keeps {
		t.Errorf("a database of somebody else: %+v", got)
	}
}
