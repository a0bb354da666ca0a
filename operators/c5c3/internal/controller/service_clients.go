package controller

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
)

// namespacesOf are the namespaces of the operator, "" when it runs outside a
// cluster, and of K-ORC.
func namespacesOf(operator, korc string) []string {
	if operator == "" || operator == korc {
		return []string{korc}
	}
	return []string{operator, korc}
}

// admitClients lets this operator, K-ORC and the other services reach a service
// that restricts who does. Alone the policy would isolate pods that nobody wants
// isolated, so it is there only beside the service's own. The service's resource owns
// it, too, so that the service's operator removes it when this one does not run.
func (all serviceList) admitClients(ctx context.Context, s *scope, svc service, child child) error {
	if svc.clients == nil {
		return nil
	}
	policy := svc.clients(s.cp, s.serviceClients)
	if !child.RestrictsClients() || !metav1.IsControlledBy(child, s.cp) {
		return apply.EnsureAbsent(ctx, s.client, s.cp, policy)
	}
	version, kind := svc.kind.ToAPIVersionAndKind()
	policy.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: child.GetName(), UID: child.GetUID()}}
	for _, other := range all.wantedBy(s.cp) {
		if other.name != svc.name {
			rule := &policy.Spec.Ingress[0]
			rule.From = append(rule.From, networkingv1.NetworkPolicyPeer{PodSelector: other.pods()})
		}
	}
	return apply.EnsureObject(ctx, s.client, s.scheme, s.cp, policy, fieldManager)
}
