package metrics

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/testutil/samples"
)

var (
	someKeystone = types.NamespacedName{Namespace: "openstack", Name: "keystone"}
	// A Wednesday.
	rotatedAt = time.Date(2026, time.June, 3, 12, 0, 0, 0, time.UTC)
)

func someLifetimes(t *testing.T) (*Lifetimes, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	l, err := NewLifetimes(registry)
	if err != nil {
		t.Fatal(err)
	}
	return l, registry
}

// weekly is a CronJob for every Sunday that the operator last changed at the given time.
func weekly(changed time.Time) *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{
			CreationTimestamp: metav1.NewTime(rotatedAt.AddDate(-1, 0, 0)),
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: apply.FieldManager, Time: ptr.To(metav1.NewTime(changed))},
				{Manager: "kube-controller-manager", Subresource: "status", Time: ptr.To(metav1.NewTime(rotatedAt.AddDate(1, 0, 0)))},
				{Manager: "kubectl-edit", Time: ptr.To(metav1.NewTime(rotatedAt.AddDate(1, 0, 0)))},
			},
		},
		Spec: batchv1.CronJobSpec{Schedule: "0 0 * * 0"},
	}
}

func TestARotationIsDueAtTheFirstActivationAfterTheLastOne(t *testing.T) {
	sunday := time.Date(2026, time.June, 7, 0, 0, 0, 0, time.UTC)
	suspended, impossible := weekly(rotatedAt), weekly(rotatedAt)
	suspended.Spec.Suspend, impossible.Spec.Schedule = ptr.To(true), "0 0 30 2 *"
	created := weekly(rotatedAt)
	created.ManagedFields, created.CreationTimestamp = nil, metav1.NewTime(sunday.Add(time.Hour))
	for name, c := range map[string]struct {
		cronJob *batchv1.CronJob
		want    time.Time
	}{
		"on schedule":                            {weekly(rotatedAt.AddDate(0, 0, -30)), sunday},
		"what a change has paused is not missed": {weekly(sunday.Add(time.Hour)), sunday.AddDate(0, 0, 7)},
		"nor is what a new CronJob did not do":   {created, sunday.AddDate(0, 0, 7)},
		"never while it is suspended":            {suspended, time.Time{}},
		"never on 30 February":                   {impossible, time.Time{}},
	} {
		l, _ := someLifetimes(t)
		l.Age.Set(someKeystone, "fernet", rotatedAt)
		l.Due.Set(someKeystone, "fernet", rotatedAt) // what an earlier pass found
		l.SetDue(someKeystone, "fernet", c.cronJob)
		if got, _ := l.Due.Get(someKeystone, "fernet"); !got.Equal(c.want) {
			t.Errorf("%s: due %s, want %s", name, got, c.want)
		}
	}
}

func TestALifetimeOfUnknownAgeHasNoDueTime(t *testing.T) {
	l, _ := someLifetimes(t)
	l.SetDue(someKeystone, "admin-password", weekly(rotatedAt))
	if at, ok := l.Due.Get(someKeystone, "admin-password"); ok {
		t.Errorf("due %s", at)
	}
}

func TestEveryDefinedLifetimeIsExportedUntilTheKeystoneIsGone(t *testing.T) {
	l, registry := someLifetimes(t)
	l.Age.Set(someKeystone, "fernet", rotatedAt)
	l.Held.Set(someKeystone, "fernet", rotatedAt)
	l.SetDue(someKeystone, "fernet", weekly(rotatedAt))

	const key = " key_type=fernet,keystone=keystone,namespace=openstack"
	want := []string{
		KeyRotationAge.Name + key, KeyRotationDue.Name + key, KeyRotationHeld.Name + key,
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(samples.Of(t, registry)))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	l.EndRotation(someKeystone, "fernet")
	if left := samples.Of(t, registry); len(left) != 0 {
		t.Errorf("left after everything was turned off: %v", left)
	}
	l.Held.Set(someKeystone, "fernet", rotatedAt)
	l.Forget(someKeystone)
	if left := samples.Of(t, registry); len(left) != 0 {
		t.Errorf("left of a Keystone that is gone: %v", left)
	}
}
