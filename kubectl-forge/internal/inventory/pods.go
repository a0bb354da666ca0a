package inventory

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// HasLabels reports whether the pod has all of the labels.
func HasLabels(pod *corev1.Pod, wanted map[string]string) bool {
	return labels.SelectorFromSet(wanted).Matches(labels.Set(pod.Labels))
}

// IsReady reports whether the pod is ready, and not being deleted.
func IsReady(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// PodsWith returns the pods that have all of the labels.
func (i *Inventory) PodsWith(wanted map[string]string) []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(i.Pods), func(pod corev1.Pod) bool { return !HasLabels(&pod, wanted) })
}

// PodsOwnedBy returns the pods of a Job.
func (i *Inventory) PodsOwnedBy(uid types.UID) []corev1.Pod {
	return slices.DeleteFunc(slices.Clone(i.Pods), func(pod corev1.Pod) bool { return !OwnedBy(&pod, uid) })
}
