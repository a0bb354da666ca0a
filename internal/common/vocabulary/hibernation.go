package vocabulary

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// AnnotationHibernated is on an object that is stopped because its resource hibernates.
	AnnotationHibernated = "forge.c5c3.io/hibernated"
	// HibernationManager is the field manager of what stops the objects of a resource that
	// hibernates.
	HibernationManager = "forge-hibernation"
)

// Hibernates reports whether Ready says that nothing of the resource runs, or will soon.
func Hibernates(conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, ConditionReady)
	return ready != nil && (ready.Reason == ReasonHibernated || ready.Reason == ReasonHibernating)
}
