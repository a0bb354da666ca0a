package reconcile

import (
	"errors"
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestAWriteIntoATerminatingNamespaceIsNotAnError(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "keys", errors.New("the namespace is being terminated"))
	refused.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	w := newWorld(t, someThing())
	var err error
	if w.reconciler.Metrics, err = NewMetrics(prometheus.NewRegistry(), "test_operator"); err != nil {
		t.Fatal(err)
	}
	w.outcome = Failed("Broken", fmt.Errorf("creating Secret keys: %w", refused)).WithEvent(corev1.EventTypeWarning, "Broken", "no keys")
	result, err := w.pass(t)
	if err != nil || result.RequeueAfter < safetyNet || w.statusWrites != 0 || len(w.events()) != 0 {
		t.Errorf("error %v, requeue after %s, %d status writes; want neither an error nor a report", err, result.RequeueAfter, w.statusWrites)
	}
	if counted := testutil.ToFloat64(w.reconciler.Metrics.errors.WithLabelValues("Step", "StepReady")); counted != 0 {
		t.Errorf("%v errors are counted", counted)
	}
	refused.ErrStatus.Details.Causes = nil
	if _, err := w.pass(t); err == nil || w.statusWrites != 1 {
		t.Errorf("error %v and %d status writes where a right is missing", err, w.statusWrites)
	}
}
