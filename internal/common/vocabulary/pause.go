package vocabulary

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AnnotationPaused on a resource of any kind keeps the operator from working on it while its
// value is "true".
const AnnotationPaused = "forge.c5c3.io/paused"

// IsPaused reports whether the operator must not work on the resource.
func IsPaused(resource metav1.Object) bool {
	return resource.GetAnnotations()[AnnotationPaused] == "true"
}
