package pass

import (
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// NoKeystone is what the steps say that work on a Keystone.
func NoKeystone() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged,
		"spec.services.keystone is not set: what K-ORC manages is left as it is")
}

// NothingToAdd is what a step says that has nothing to add to KORCReady. The reason of
// that when it is True is that of the step that has the credential made.
func NothingToAdd() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonApplicationCredentialMinted, "")
}
