package services

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// CacheClients allows only the services of the namespace to reach the servers of a
// Memcached: memcached does not authenticate clients, and its content is trusted. The
// policy selects pods by the labels of the memcached operator. That operator may have a
// policy with the Memcached's name; the name of this one contains a dot.
func (all List) CacheClients(cp *c5c3v1alpha1.ControlPlane) *networkingv1.NetworkPolicy {
	peers := make([]networkingv1.NetworkPolicyPeer, 0, len(all))
	for _, svc := range all {
		peers = append(peers, networkingv1.NetworkPolicyPeer{PodSelector: svc.pods()})
	}
	name := cp.Spec.Infrastructure.Cache.ClusterRef.Name
	return &networkingv1.NetworkPolicy{
		ObjectMeta: controlplane.ChildMeta(cp, name+".clients"),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{
				"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": name,
			}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{{
				From:  peers,
				Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP), Port: new(intstr.FromInt32(commonv1.DefaultCachePort))}},
			}},
		},
	}
}
