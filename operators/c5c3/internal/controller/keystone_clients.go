package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/c5c3/forge/internal/common/apply"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// keystoneClients lets the pods of some namespaces reach the API pods of the
// control plane's Keystone. The Keystone operator has policies of the Keystone's
// name and of <name>.tasks.
func keystoneClients(cp *c5c3v1alpha1.ControlPlane, namespaces []string) *networkingv1.NetworkPolicy {
	peers := make([]networkingv1.NetworkPolicyPeer, 0, len(namespaces))
	for _, namespace := range namespaces {
		peers = append(peers, networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
		}})
	}
	return &networkingv1.NetworkPolicy{
		ObjectMeta: childMeta(cp, cp.KeystoneName()+".clients"),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: keystonev1alpha1.SelectorLabels(cp.KeystoneName())},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From:  peers,
				Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(keystonev1alpha1.APIPort))}},
			}},
		},
	}
}

// namespacesOf are the namespaces of the operator, "" when it runs outside a
// cluster, and of K-ORC.
func namespacesOf(operator, korc string) []string {
	if operator == "" || operator == korc {
		return []string{korc}
	}
	return []string{operator, korc}
}

// admitClients lets this operator and K-ORC reach a Keystone that restricts who
// does. Alone the policy would isolate pods that nobody wants isolated, so it is
// there only beside the Keystone's own.
func (s *scope) admitClients(ctx context.Context, keystone *keystonev1alpha1.Keystone) error {
	policy := keystoneClients(s.cp, s.keystoneClients)
	if keystone.Spec.NetworkPolicy == nil || !metav1.IsControlledBy(keystone, s.cp) {
		return apply.EnsureAbsent(ctx, s.client, s.cp, policy)
	}
	return apply.EnsureObject(ctx, s.client, s.scheme, s.cp, policy, fieldManager)
}
