package keys

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/fernet"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// annotationKeyHistory, on a key Secret, records when each key was the primary one.
const annotationKeyHistory = "forge.c5c3.io/key-history"

// longestHoldTimer bounds the requeue of a held rotation.
const longestHoldTimer = time.Hour

func historyOf(secret *corev1.Secret) fernet.History {
	return fernet.ParseHistory(secret.Annotations[annotationKeyHistory])
}

func stagingName(secret string) string { return secret + "-rotation" }

// stagedRotation is a finished rotation that waits to be promoted.
type stagedRotation struct {
	current, staging *corev1.Secret
	history          fernet.History
	use              fernet.Use
}

// hold is why a finished rotation is not promoted yet; with an empty reason it is
// promoted.
type hold struct {
	reason string
	// until is zero if the hold ends with an event instead of a time.
	until time.Time
}

// acceptance returns the annotation with which a user accepts that the staged keys
// replace those in use regardless of their origin, "" if Keystone could not use them.
func (r stagedRotation) acceptance() string {
	if fernet.ValidateInUse(r.staging.Data) != nil {
		return ""
	}
	return keystonev1alpha1.AnnotationAcceptStagedKeys + "=" + fernet.ReplacementID(r.current.Data, r.staging.Data)
}

func (r stagedRotation) accepted(k *keystonev1alpha1.Keystone) bool {
	request := k.Annotations[keystonev1alpha1.AnnotationAcceptStagedKeys]
	return r.acceptance() == keystonev1alpha1.AnnotationAcceptStagedKeys+"="+request
}
