package controller

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// withoutLists is a cluster that answers no list. A cache that has synced answers
// every one, so that no API server can show this.
func withoutLists(objects ...client.Object) client.Client {
	return fake.NewClientBuilder().WithScheme(Scheme()).WithObjects(objects...).WithStatusSubresource(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
				return errors.New("the cache is not started")
			},
		}).Build()
}

func TestARotationTellsThatItCouldNotListTheControlPlanes(t *testing.T) {
	outcome := reconcileRotation(t.Context(), &rotationScope{
		toolbox: &toolbox{client: withoutLists()},
		rotation: &c5c3v1alpha1.CredentialRotation{
			Spec: c5c3v1alpha1.CredentialRotationSpec{Target: c5c3v1alpha1.RotationTargetAdminApplicationCredential},
		},
	})
	if outcome.Reason() != "ControlPlaneListError" || outcome.Err() == nil {
		t.Errorf("got %+v", outcome)
	}
}

func TestAControlPlaneTellsThatItCouldNotListTheOthers(t *testing.T) {
	outcome, refused := refuseDuplicates(withoutLists())(t.Context(), &c5c3v1alpha1.ControlPlane{})
	if !refused || outcome.Reason() != "ReconcileError" || outcome.Err() == nil {
		t.Errorf("refused: %t, with %+v", refused, outcome)
	}
}

func TestASecretAggregateTellsThatItCouldNotListTheControlPlanes(t *testing.T) {
	outcome := reconcileAggregate(t.Context(), &aggregation{
		aggregator: &aggregator{client: withoutLists()}, aggregate: &c5c3v1alpha1.SecretAggregate{},
	})
	if outcome.Reason() != "ReconcileError" || outcome.Err() == nil {
		t.Errorf("got %+v", outcome)
	}
}
