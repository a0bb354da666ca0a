package services

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// NamespacesOf returns the namespaces of the operator (which may be "" outside a cluster)
// and of K-ORC.
func NamespacesOf(operator, korc string) []string {
	if operator == "" || operator == korc {
		return []string{korc}
	}
	return []string{operator, korc}
}

// admitClients allows this operator, K-ORC and the other services to reach a service that
// restricts its clients. On its own the policy would isolate pods unintentionally, so it
// only exists together with the service's own policy. The service's resource is an owner,
// too, so that the service's operator removes it while this operator is not running.
func (all List) admitClients(ctx context.Context, s *pass.Pass, svc Service, child child) error {
	if svc.clients == nil {
		return nil
	}
	policy := svc.clients(s.CP, s.ServiceClients)
	if child.ServiceSpec().NetworkPolicy == nil || !metav1.IsControlledBy(child, s.CP) {
		return apply.EnsureAbsent(ctx, s.Client, s.CP, policy)
	}
	version, kind := svc.Kind.ToAPIVersionAndKind()
	policy.OwnerReferences = []metav1.OwnerReference{{APIVersion: version, Kind: kind, Name: child.GetName(), UID: child.GetUID()}}
	for _, other := range all.wantedBy(s.CP) {
		if other.name != svc.name {
			rule := &policy.Spec.Ingress[0]
			rule.From = append(rule.From, networkingv1.NetworkPolicyPeer{PodSelector: other.pods()})
		}
	}
	return apply.EnsureObject(ctx, s.Client, s.Scheme, s.CP, policy, pass.FieldManager)
}
