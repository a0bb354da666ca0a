//go:build integration

package controller_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

func TestANamespacedRoleIsEnoughForAKeystoneWithAllFeatures(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, func(namespace string) []client.Object {
		return append(writableSecrets(namespace), testutil.MariaDB(namespace))
	})
	cfg, err := env.NamespacedUser(t.Context(), namespace, "operator-of-"+namespace, rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	asked := transport.NewReach(namespace)
	operator := testutil.Start(t, asked.Config(cfg), namespace)
	k := testutil.Managed(namespace, testutil.Name)
	k.Spec.PriorityClassName = new("system-cluster-critical")
	k.Spec.Bootstrap.PasswordRotation = &keystonev1alpha1.PasswordRotationSpec{Enabled: true}
	k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{
		Ingress: []commonv1.NetworkPolicyIngressSource{{NamespaceSelector: map[string]string{}}},
	}
	k.Spec.Autoscaling = &commonv1.AutoscalingSpec{MaxReplicas: 3, TargetCPUUtilization: new(int32(80))}
	objects.Create(t, c, k)
	ready(t, c, k)
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k)
	operator.Stop()

	for _, request := range asked.Outside() {
		t.Errorf("asked outside its namespace: %s", request)
	}
	for _, request := range asked.Refused() {
		t.Errorf("was refused: %s", request)
	}
}
