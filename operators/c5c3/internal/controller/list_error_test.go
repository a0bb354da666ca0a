package controller

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
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
	rotation := &c5c3v1alpha1.CredentialRotation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "openstack", Name: "rotation"},
		Spec:       c5c3v1alpha1.CredentialRotationSpec{Target: c5c3v1alpha1.RotationTargetAdminApplicationCredential},
	}
	c := withoutLists(rotation)
	key := client.ObjectKeyFromObject(rotation)
	if _, err := (&rotationReconciler{toolbox: &toolbox{client: c}}).Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err == nil {
		t.Error("it is not tried again")
	}
	if err := c.Get(t.Context(), key, rotation); err != nil {
		t.Fatal(err)
	}
	ready := meta.FindStatusCondition(rotation.Status.Conditions, "Ready")
	if ready == nil || ready.Reason != "ControlPlaneListError" || !strings.Contains(ready.Message, "the cache is not started") {
		t.Errorf("Ready is %+v", ready)
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
