package standin

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func korcCondition(obj *unstructured.Unstructured, conditionType string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, entry := range conditions {
		if condition, ok := entry.(map[string]any); ok && condition["type"] == conditionType {
			return condition
		}
	}
	return nil
}

// korcStatus sets the two conditions of K-ORC.
func korcStatus(obj *unstructured.Unstructured, progressing metav1.ConditionStatus, reason, message string) error {
	available := metav1.ConditionFalse
	if reason == "Success" {
		available = metav1.ConditionTrue
	}
	if message == "" {
		message = reason
	}
	return errors.Join(
		setCondition(obj, metav1.Condition{
			Type: "Available", Status: available, Reason: reason, Message: message, ObservedGeneration: obj.GetGeneration(),
		}),
		setCondition(obj, metav1.Condition{
			Type: "Progressing", Status: progressing, Reason: reason, Message: message, ObservedGeneration: obj.GetGeneration(),
		}),
	)
}
