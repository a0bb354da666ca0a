package services

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// backendNamed is a backend that the control plane has made, and that is ready.
func backendNamed(cp *c5c3v1alpha1.ControlPlane, name string) *glancev1alpha1.GlanceBackend {
	backend := &glancev1alpha1.GlanceBackend{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: cp.Namespace, Generation: 2, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: c5c3v1alpha1.GroupVersion.String(), Kind: "ControlPlane", Name: cp.Name, UID: cp.UID, Controller: new(true),
		}}},
	}
	backend.Status.Conditions = []metav1.Condition{{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "AllReady", ObservedGeneration: 2,
	}}
	return backend
}

func TestAServiceWaitsForItsParts(t *testing.T) {
	refuse := func(b *glancev1alpha1.GlanceBackend) {
		b.Status.Conditions[0].Status, b.Status.Conditions[0].Message = metav1.ConditionFalse, "3 images"
	}
	for name, c := range map[string]struct {
		change func(*glancev1alpha1.GlanceBackend)
		want   string
	}{
		"ready":           {func(*glancev1alpha1.GlanceBackend) {}, ""},
		"not processed":   {func(b *glancev1alpha1.GlanceBackend) { b.Status.Conditions = nil }, "GlanceBackend images is not ready"},
		"an earlier spec": {func(b *glancev1alpha1.GlanceBackend) { b.Generation = 3 }, "GlanceBackend images is not ready"},
		"not ready":       {refuse, "GlanceBackend images is not ready: 3 images"},
		"being deleted": {func(b *glancev1alpha1.GlanceBackend) {
			refuse(b)
			b.DeletionTimestamp, b.Finalizers = &metav1.Time{Time: fixture.Noon}, []string{"example.com/in-use"}
		}, "GlanceBackend images is being deleted: 3 images"},
	} {
		backend := backendNamed(fixture.Complete(), "images")
		c.change(backend)
		if got := Glance.awaited([]part{backend}, nil); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	first, second := backendNamed(fixture.Complete(), "first"), backendNamed(fixture.Complete(), "second")
	refuse(first)
	refuse(second)
	if got, want := Glance.awaited([]part{first, second}, nil), "GlanceBackend first is not ready: 3 images; "+
		"GlanceBackend second is not ready: 3 images"; got != want {
		t.Errorf("two: got %q, want %q", got, want)
	}
	removed := backendNamed(fixture.Complete(), "old")
	if got, want := Glance.awaited(nil, []part{removed}), "GlanceBackend old is being deleted"; got != want {
		t.Errorf("removed: got %q, want %q", got, want)
	}
}

func TestPartsFollowTheSpec(t *testing.T) {
	cp := fixture.Complete()
	users := backendNamed(cp, "users")
	users.OwnerReferences = nil
	s := pass.New(toolsFor(t, List{Glance}, cp, backendNamed(cp, "removed"), users), cp)
	expect := func(when string, want ...string) {
		t.Helper()
		all := &glancev1alpha1.GlanceBackendList{}
		if err := s.Client.List(t.Context(), all, client.InNamespace(cp.Namespace)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, backend := range all.Items {
			got = append(got, backend.Name)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
	}
	waits, err := Glance.applyParts(t.Context(), s)
	const want = "GlanceBackend volume is not ready; GlanceBackend bucket is not ready; GlanceBackend removed is being deleted"
	if err != nil || waits != want {
		t.Fatalf("it waits for %q (%v), want %q", waits, err, want)
	}
	expect("in the spec", "bucket", "users", "volume")
	if _, err := Glance.deleteParts(t.Context(), s, nil); err != nil {
		t.Fatal(err)
	}
	expect("after the service", "users")
}
