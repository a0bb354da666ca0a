package reconcile

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAStepMaySayWhyItIsHeldBack(t *testing.T) {
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
