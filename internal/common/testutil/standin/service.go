package standin

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NewService returns a stand-in for [Run] that simulates the operator of an OpenStack
// service: it immediately installs the release in the image's tag, and says for which
// generation.
func NewService(kind schema.GroupVersionKind) *Ready {
	return &Ready{&conditioned{kind: kind, reason: "AllReady", stamp: stampService, script: newScript()}}
}

func stampService(obj *unstructured.Unstructured) error {
	if hibernates, _, err := unstructured.NestedBool(obj.Object, "spec", "hibernation"); hibernates || err != nil {
		return errors.Join(err, setCondition(obj, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Hibernated", Message: "Hibernated", ObservedGeneration: obj.GetGeneration(),
		}))
	}
	return errors.Join(
		unstructured.SetNestedField(obj.Object, text(obj, "spec", "image", "tag"), "status", "installedRelease"),
		unstructured.SetNestedField(obj.Object, obj.GetGeneration(), "status", "observedGeneration"),
		setCondition(obj, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionTrue, Reason: "AllReady", Message: "AllReady", ObservedGeneration: obj.GetGeneration(),
		}),
	)
}
