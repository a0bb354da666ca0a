//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/metrics"
)

// exported returns how many series of a metric have the value of the label.
func exported(t *testing.T, metric, label, value string) int {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Error(err)
	}
	found := 0
	for _, family := range families {
		if family.GetName() != metric {
			continue
		}
		for _, series := range family.GetMetric() {
			for _, pair := range series.GetLabel() {
				if pair.GetName() == label && pair.GetValue() == value {
					found++
				}
			}
		}
	}
	return found
}

func TestACredentialAndItsRotationAreExportedAndCounted(t *testing.T) {
	t.Parallel()
	w := converged(t, func(cp *c5c3v1alpha1.ControlPlane) { inMode(cp, c5c3v1alpha1.RotationScheduled) })
	rotation := w.rotation(c5c3v1alpha1.CredentialRotationSpec{IntervalDays: new(int32(3))})
	objects.Create(t, w, rotation)
	w.expectRotation(t, rotation, metav1.ConditionTrue, "RotationScheduled")
	expectSeries := func(want int, names ...string) {
		t.Helper()
		for _, name := range names {
			expect.Eventually(t, fmt.Sprintf("there are %d series of %s", want, name), func(context.Context) error {
				if got := exported(t, name, "namespace", w.cp.Namespace); got != want {
					return fmt.Errorf("got %d", got)
				}
				return nil
			})
		}
	}
	expectSeries(1, metrics.CredentialAge.Name, metrics.UpdateInfo.Name, metrics.RotationDue.Name)
	if exported(t, metrics.Prefix+"_reconcile_duration_seconds", "sub_reconciler", "CredentialRotation") != 1 {
		t.Error("the passes of the CredentialRotation are not counted")
	}
	objects.Delete(t, w, rotation)
	expect.Gone(t, w, rotation)
	expectSeries(0, metrics.RotationDue.Name)
}
