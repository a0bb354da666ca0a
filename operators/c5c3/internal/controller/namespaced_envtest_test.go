//go:build integration

package controller_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	common "github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

func TestANamespacedRoleIsEnoughForAControlPlane(t *testing.T) {
	t.Parallel()
	k := controlPlanes(placement)
	c, namespace := conform.Admin, env.Namespace(t)
	k.Inputs(namespace)
	cp := k.New(namespace)
	objects.Create(t, c, cp)
	cfg, err := env.NamespacedUser(t.Context(), namespace, "operator-of-"+namespace, "../../helm/c5c3-operator/files/rbac-rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	asked := transport.NewReach(namespace)
	operator := running.Start(t, k.Program, asked.Config(cfg), namespace, common.Options{})
	expect.Condition(t, c, cp, "Ready", metav1.ConditionTrue, "AllReady")
	aggregate := aggregates().New(namespace)
	aggregate.Spec.Sources[0].Credential = c5c3v1alpha1.AggregatedAdminPassword
	rotation := (&world{cp: cp}).rotation(c5c3v1alpha1.CredentialRotationSpec{ReMint: true})
	objects.Create(t, c, aggregate, rotation)
	expect.Condition(t, c, aggregate, "Ready", metav1.ConditionTrue, "SecretsAggregated")
	expect.Condition(t, c, rotation, "Ready", metav1.ConditionTrue, "RotationTriggered")
	expect.Condition(t, c, cp, "Ready", metav1.ConditionTrue, "AllReady")
	objects.Delete(t, c, cp)
	expect.Gone(t, c, cp)

	operator.Stop()
	for _, request := range asked.Outside() {
		t.Errorf("asked outside its namespace: %s", request)
	}
	for _, request := range asked.Refused() {
		t.Errorf("was refused: %s", request)
	}
}
