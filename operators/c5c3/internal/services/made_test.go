package services

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

// dropped is a ready plant from which the invented service was removed.
func dropped(t *testing.T, existing map[string]string, allowed string) *plant {
	t.Helper()
	p := newPlant(t, withSundial())
	p.existing = existing
	p.korcEntersTheCatalog(t, p.begins(t))
	p.settleCatalog(t)
	cp := &c5c3v1alpha1.ControlPlane{}
	p.get(t, cp, fixture.Minimal().Name)
	cp.Annotations = map[string]string{sundialService().allowDeletion: allowed}
	p.update(t, cp)
	return p
}

// settleCatalog has passes run until Keystone has answered everything.
func (p *plant) settleCatalog(t *testing.T) *c5c3v1alpha1.ControlPlane {
	t.Helper()
	for range 4 {
		p.pass(t)
		fixture.Answer(t.Context(), p.Proofs.Ledger)
	}
	return p.pass(t)
}

// catalogOf returns the names of the objects of the invented service.
func (p *plant) catalogOf(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, obj := range sundialService().catalogObjects(fixture.Minimal()) {
		err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		if err == nil {
			names = append(names, obj.GetName())
		}
	}
	return names
}

var entriesOfSundial = []string{"controlplane-time-endpoint", "controlplane-time-internal-endpoint", "controlplane-time-service"}

const registered = "The catalog has Keystone at http://controlplane-keystone.openstack.svc.cluster.local:5000/v3"

func TestCreatedCatalogEntriesAreRemovedWithTheirService(t *testing.T) {
	p := dropped(t, nil, "true")
	cp := p.settleCatalog(t)
	want := []string{"id-of-controlplane-time-endpoint", "id-of-controlplane-time-internal-endpoint", "id-of-controlplane-time-service"}
	// The endpoints are asked about in any order, the service after them.
	slices.Sort(p.removed[:max(0, len(p.removed)-1)])
	if diff := cmp.Diff(want, p.removed); diff != "" {
		t.Errorf("removed from Keystone (-want +got):\n%s", diff)
	}
	if left := p.catalogOf(t); len(left) > 0 || len(cp.Status.CatalogEntries) > 0 {
		t.Errorf("the objects %v and the records %+v are left", left, cp.Status.CatalogEntries)
	}
	expectCondition(t, cp, "CatalogReady", metav1.ConditionTrue, "CatalogRegistered", registered)
}

func TestAdoptedCatalogEntriesAreKeptAndReported(t *testing.T) {
	p := dropped(t, map[string]string{"time": "theirs", "https://sundial.example.com": "theirs, too"}, "true")
	cp := p.settleCatalog(t)
	if diff := cmp.Diff([]string{"id-of-controlplane-time-internal-endpoint"}, p.removed); diff != "" {
		t.Errorf("removed from Keystone (-want +got):\n%s", diff)
	}
	expectCondition(t, cp, "CatalogReady", metav1.ConditionTrue, "CatalogRegistered", registered+
		"; it keeps Endpoint controlplane-time-endpoint, Service controlplane-time-service, which this ControlPlane has not made: "+
		"if nothing needs an entry, delete it in Keystone and then its K-ORC object")
}

func TestCatalogEntriesOfARetainedServiceAreKept(t *testing.T) {
	p := dropped(t, nil, "")
	cp := p.settleCatalog(t)
	if diff := cmp.Diff(entriesOfSundial, p.catalogOf(t)); diff != "" || len(p.removed) > 0 {
		t.Errorf("removed %v; objects (-want +got):\n%s", p.removed, diff)
	}
	expectCondition(t, cp, "CatalogReady", metav1.ConditionTrue, "CatalogRegistered", registered)
}

func TestAFailedRemovalOfACatalogEntryIsReported(t *testing.T) {
	p := dropped(t, nil, "true")
	p.removeRefusal = errors.New("deleting the endpoint e: it answered with status 403")
	cp := p.settleCatalog(t)
	refused := " (deleting the endpoint e: it answered with status 403), "
	expectCondition(t, cp, "CatalogReady", metav1.ConditionFalse, "WaitingForCatalog",
		"Removing from the catalog what belongs to a service that is gone: controlplane-time-endpoint"+refused+
			"controlplane-time-internal-endpoint"+refused+"controlplane-time-service")
	if diff := cmp.Diff(entriesOfSundial, p.catalogOf(t)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestACatalogEntryIsRecordedBeforeItsObjectIsCreated(t *testing.T) {
	p := newPlant(t, withSundial())
	p.pass(t)
	p.keystoneIsReady(t)
	expectCondition(t, p.pass(t), "CatalogReady", metav1.ConditionFalse, "WaitingForCatalog",
		"Asking Keystone whether it has entries of Sundial")
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	cp := p.pass(t)
	want := []c5c3v1alpha1.CatalogEntryStatus{}
	for _, name := range entriesOfSundial {
		want = append(want, c5c3v1alpha1.CatalogEntryStatus{ObjectName: name})
	}
	got := slices.SortedFunc(slices.Values(cp.Status.CatalogEntries), func(a, b c5c3v1alpha1.CatalogEntryStatus) int {
		return slices.Index(entriesOfSundial, a.ObjectName) - slices.Index(entriesOfSundial, b.ObjectName)
	})
	if diff := cmp.Diff(want, got); diff != "" || len(p.catalogOf(t)) > 0 {
		t.Errorf("with the objects %v the records are (-want +got):\n%s", p.catalogOf(t), diff)
	}
	p.pass(t)
	if diff := cmp.Diff(entriesOfSundial, p.catalogOf(t)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

func TestARecreatedObjectKeepsTheRecordOfItsCatalogEntry(t *testing.T) {
	const name = "controlplane-time-endpoint"
	for what, c := range map[string]struct {
		found string
		made  bool
	}{
		"for the entry that was made": {"id-of-" + name, true},
		"for a foreign entry":         {"another", false},
		"for an entry that is gone":   {"", true},
	} {
		p := ready(t)
		p.existing = map[string]string{"https://sundial.example.com": c.found}
		endpoint := &orcv1alpha1.Endpoint{ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: name}}
		if err := p.Client.Delete(t.Context(), endpoint); err != nil {
			t.Fatal(err)
		}
		cp := p.settleCatalog(t)
		if made := recorded(cp, name) >= 0; made != c.made || len(p.catalogOf(t)) != 3 {
			t.Errorf("%s: the objects %v have the records %+v", what, p.catalogOf(t), cp.Status.CatalogEntries)
		}
	}
}
