//go:build integration

package controller_test

import (
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// admitting simulates the NetworkPolicy with which another owner, usually a ControlPlane,
// allows further clients to reach the Keystone. Its labels keep it out of the operator's
// cache.
func admitting(k *keystonev1alpha1.Keystone, owners ...metav1.OwnerReference) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: k.Namespace, Name: keystonev1alpha1.ClientsPolicyName(k.Name), OwnerReferences: owners,
			Labels: map[string]string{"app.kubernetes.io/managed-by": "c5c3-operator"},
		},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: keystonev1alpha1.SelectorLabels(k.Name)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		},
	}
}

// restricted starts a Keystone with its own NetworkPolicy.
func restricted(t *testing.T) *keystonev1alpha1.Keystone {
	t.Helper()
	c, namespace := newNamespace(t, testutil.Secrets)
	testutil.Start(t, asOperator, namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{
		Ingress: []commonv1.NetworkPolicyIngressSource{{NamespaceSelector: map[string]string{"team": "cloud"}}},
	}
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "NetworkPolicyReady", metav1.ConditionTrue, "NetworkPolicyReady")
	return k
}

func TestAllOwnedNetworkPoliciesAreDeletedWhenTheSpecUnsetsThem(t *testing.T) {
	t.Parallel()
	k := restricted(t)
	policy := admitting(k, metav1.OwnerReference{
		APIVersion: keystonev1alpha1.GroupVersion.String(), Kind: "Keystone", Name: k.Name, UID: k.UID,
	})
	objects.Create(t, admin, policy)
	objects.Change(t, admin, k, func(k *keystonev1alpha1.Keystone) { k.Spec.NetworkPolicy = nil })
	expect.Gone(t, admin, policy)
	expect.Condition(t, admin, k, "NetworkPolicyReady", metav1.ConditionTrue, "NetworkPolicyNotRequired")
}

func TestAForeignNetworkPolicyIsKept(t *testing.T) {
	t.Parallel()
	k := restricted(t)
	policy := admitting(k)
	objects.Create(t, admin, policy)
	objects.Change(t, admin, k, func(k *keystonev1alpha1.Keystone) { k.Spec.NetworkPolicy = nil })
	expect.Condition(t, admin, k, "NetworkPolicyReady", metav1.ConditionTrue, "NetworkPolicyNotRequired")
	expect.Gone(t, admin, &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}})
	expect.Exists(t, admin, policy)
}
