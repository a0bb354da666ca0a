package reconcile

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestABlockedStepCanReportItsOwnReason(t *testing.T) {
	var ran []string
	service := fixed("Service", "ServiceReady", Done("Fine", ""), &ran, "Database")
	service.HeldBack = "WaitingForDatabase"
	pipeline := Pipeline[*[]string]{fixed("Database", "DatabaseReady", Waiting("NotYet", "later"), &ran), service}
	conditions := []metav1.Condition{{Type: "ServiceReady", Status: metav1.ConditionTrue, Reason: "Fine", ObservedGeneration: 1}}
	record(&conditions, 2, pipeline.run(t.Context(), &ran, nil))
	got := meta.FindStatusCondition(conditions, "ServiceReady")
	if got.Status != metav1.ConditionFalse || got.Reason != "WaitingForDatabase" || got.Message != "Waiting for DatabaseReady" ||
		got.ObservedGeneration != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestARefusedResourceOnlyGetsItsReadyCondition(t *testing.T) {
	w := newWorld(t, someThing())
	refusal := Refusal{Reason: "Duplicate", Message: "the other one counts"}
	w.reconciler.Preflight = func(context.Context, *thing) (Refusal, error) { return refusal, nil }
	if result, err := w.pass(t); err != nil || result.RequeueAfter != 0 {
		t.Errorf("result %v, error %v", result, err)
	}
	got := w.get(t)
	if len(got.Finalizers) != 0 || len(got.Status.Conditions) != 1 {
		t.Errorf("finalizers %v and conditions %v, want none but Ready", got.Finalizers, got.Status.Conditions)
	}
	if ready := got.Status.Conditions[0]; ready.Status != metav1.ConditionFalse || ready.Reason != "Duplicate" {
		t.Errorf("got %+v", ready)
	}
	refusal = Refusal{}
	if _, err := w.pass(t); err != nil {
		t.Fatal(err)
	}
	if got := w.get(t); !meta.IsStatusConditionTrue(got.Status.Conditions, vocabulary.ConditionReady) || len(got.Finalizers) != 2 {
		t.Errorf("once the reason is gone: finalizers %v, conditions %v", got.Finalizers, got.Status.Conditions)
	}
}

func TestSummariseDerivesStatusFieldsFromConditions(t *testing.T) {
	w := newWorld(t, someThing())
	w.reconciler.Summarise = func(obj *thing) {
		obj.Status.Ready = meta.IsStatusConditionTrue(obj.Status.Conditions, "StepReady")
	}
	for _, ready := range []bool{true, false} {
		if !ready {
			w.outcome = Waiting("NotYet", "later")
		}
		if _, err := w.pass(t); err != nil {
			t.Fatal(err)
		}
		if got := w.get(t).Status.Ready; got != ready {
			t.Errorf("got %t, expected %t", got, ready)
		}
	}
}
