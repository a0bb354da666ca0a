//go:build integration

package crash

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controller"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
)

func TestANamespacedRoleIsEnoughForAControlPlane(t *testing.T) {
	t.Parallel()
	c := env.Client(t, controller.Scheme())
	namespace, err := prepare(t.Context(), c, withPlacement)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := env.NamespacedUser(t.Context(), namespace, "operator-of-"+namespace, "../../helm/c5c3-operator/files/rbac-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asked := transport.NewReach(namespace)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		options := controller.Options{DiscoveryInterval: time.Second, Adjust: func(t *pass.Tools) {
			testutil.Asking(korc)(t)
			t.SpreadTime = time.Second
		}}
		ended <- testutil.RunIn(ctx, asked.Config(cfg), namespace, options, logr.Discard())
	}()

	cp := controlPlane(namespace)
	expect.Condition(t, c, cp, "Ready", metav1.ConditionTrue, "AllReady")
	aggregate := &c5c3v1alpha1.SecretAggregate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "collected"},
		Spec: c5c3v1alpha1.SecretAggregateSpec{
			Sources: []c5c3v1alpha1.SecretAggregateSource{{Credential: c5c3v1alpha1.AggregatedAdminPassword}},
		},
	}
	rotation := &c5c3v1alpha1.CredentialRotation{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "now"},
		Spec:       c5c3v1alpha1.CredentialRotationSpec{Target: c5c3v1alpha1.RotationTargetAdminApplicationCredential, ReMint: true},
	}
	objects.Create(t, c, aggregate, rotation)
	expect.Condition(t, c, aggregate, "Ready", metav1.ConditionTrue, "SecretsAggregated")
	expect.Condition(t, c, rotation, "Ready", metav1.ConditionTrue, "RotationTriggered")
	expect.Condition(t, c, cp, "Ready", metav1.ConditionTrue, "AllReady")
	objects.Delete(t, c, cp)
	expect.Gone(t, c, cp)

	stop()
	if err := <-ended; err != nil {
		t.Errorf("the operator ended with: %v", err)
	}
	for _, request := range asked.Outside() {
		t.Errorf("asked outside its namespace: %s", request)
	}
	for _, request := range asked.Refused() {
		t.Errorf("was refused: %s", request)
	}
}
