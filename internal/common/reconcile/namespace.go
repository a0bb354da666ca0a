package reconcile

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// namespaceGoes reports whether the step failed only because its namespace is
// being deleted. The API server no longer creates anything there, including events,
// and the resource itself is about to be deleted.
func (r stepResult) namespaceGoes() bool {
	return r.outcome.failed() && apierrors.HasStatusCause(r.outcome.err, corev1.NamespaceTerminatingCause)
}
