package health

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

const condition = "HarbourAPIReady"

// unasked is a pass of an operator that has just started. The resource's condition was
// last set as given, and as many pods are ready.
func unasked(t *testing.T, last metav1.Condition, ready int32) *service.Pass {
	t.Helper()
	h := instance.Brownfield()
	h.Generation, h.Status.Endpoint = 2, "http://harbour"
	last.Type = condition
	h.Status.Conditions = []metav1.Condition{last}
	deploy := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: h.Namespace, Name: h.Name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(h, instance.Kind)},
		},
		Status: appsv1.DeploymentStatus{ObservedGeneration: 3, UpdatedReplicas: 2, ReadyReplicas: ready, AvailableReplicas: 1},
	}
	p := instance.Pass(t, h, interceptor.Funcs{}, client.Object(deploy))
	p.Prober = probe.New(nil)
	return p
}

func TestAHealthyAPIStaysHealthyAfterAnOperatorRestart(t *testing.T) {
	check := Check[*service.Pass]{
		Condition: condition, URL: func(*service.Pass) string { return "http://harbour.svc" },
		Answered: func(reason string) bool { return reason == "LoginFailed" },
	}
	for name, test := range map[string]struct {
		last metav1.Condition
		want string
	}{
		"it was healthy":            {metav1.Condition{Status: metav1.ConditionTrue, ObservedGeneration: 2}, vocabulary.ReasonAPIHealthy},
		"it was under another spec": {metav1.Condition{Status: metav1.ConditionTrue, ObservedGeneration: 1}, vocabulary.ReasonProbePending},
		"it answered": {
			metav1.Condition{Status: metav1.ConditionFalse, Reason: "LoginFailed", ObservedGeneration: 2}, vocabulary.ReasonAPIHealthy,
		},
		"it did not answer": {
			metav1.Condition{Status: metav1.ConditionFalse, Reason: vocabulary.ReasonConnectionFailed, ObservedGeneration: 2},
			vocabulary.ReasonProbePending,
		},
	} {
		if got := check.Reconcile(t.Context(), unasked(t, test.last, 1)); got.Reason() != test.want {
			t.Errorf("%s: got %s: %s, want %s", name, got.Reason(), got.Message(), test.want)
		}
	}
}

func TestAServiceCanExtendTheHealthyMessage(t *testing.T) {
	check := Check[*service.Pass]{
		Condition: condition, URL: func(*service.Pass) string { return "http://harbour.svc" },
		Healthy: func(_ *service.Pass, message string) reconcile.Outcome {
			return reconcile.Done(vocabulary.ReasonAPIHealthy, message+"; its cache does not")
		},
	}
	got := check.Reconcile(t.Context(), unasked(t, metav1.Condition{Status: metav1.ConditionTrue, ObservedGeneration: 2}, 1))
	if want := "Harbour API is responding at http://harbour.svc; its cache does not"; got.Message() != want {
		t.Errorf("got %q, want %q", got.Message(), want)
	}
}

func TestTheRolloutStateIsPassedToLaterSteps(t *testing.T) {
	check := Check[*service.Pass]{Condition: condition, URL: func(*service.Pass) string { return "http://harbour.svc" }}
	for ready, want := range map[int32]Rollout{0: {State: "3/2/0/1"}, 1: {Serving: true, State: "3/2/1/1"}} {
		p := unasked(t, metav1.Condition{Status: metav1.ConditionTrue, ObservedGeneration: 2}, ready)
		outcome := check.Reconcile(t.Context(), p)
		if got := RolloutOf.Value(p.Slots); got != want {
			t.Errorf("with %d ready pods: %+v, want %+v", ready, got, want)
		}
		if outcome.IsDone() != want.Serving {
			t.Errorf("with %d ready pods: %s: %s", ready, outcome.Reason(), outcome.Message())
		}
	}
}
