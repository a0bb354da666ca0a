package credentialrotation

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/kube"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// withoutLists is a cluster in which every list fails. A synced cache answers all lists,
// so an API server cannot produce this.
type withoutLists struct{ client.Client }

func (withoutLists) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return errors.New("the cache is not started")
}

func TestAFailedListOfControlPlanesIsAnError(t *testing.T) {
	rotation := &c5c3v1alpha1.CredentialRotation{
		Spec: c5c3v1alpha1.CredentialRotationSpec{Target: c5c3v1alpha1.RotationTargetAdminApplicationCredential},
	}
	outcome := reconcileRotation(t.Context(), &scope{Tools: &pass.Tools{Access: kube.Access{Client: withoutLists{}}}, rotation: rotation})
	if outcome.Reason() != "ControlPlaneListError" || outcome.Err() == nil {
		t.Errorf("got %+v", outcome)
	}
}
