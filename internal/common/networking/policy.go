package networking

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/deployment"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Traffic is the input for the NetworkPolicies of an instance.
type Traffic struct {
	deployment.Instance
	// Policy is the block of the spec; without it the policies admit no ingress.
	Policy  *commonv1.NetworkPolicySpec
	Gateway *commonv1.GatewaySpec
	Cache   commonv1.CacheSpec
	// Database is the database that the pods use, nil for none.
	Database *commonv1.DatabaseSpec
	// IdentityURL is the URL of the Identity service that the pods use, "" for none.
	IdentityURL string
	// OperatorNamespace is the namespace that health checks come from, "" if
	// unknown.
	OperatorNamespace string
}

// API isolates the API pods.
func (t Traffic) API() *networkingv1.NetworkPolicy {
	policy := t.isolate(t.Name, t.Selector)
	if t.Policy != nil {
		policy.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{Ports: tcpPorts(t.Port), From: t.clients()}}
	}
	return policy
}

// Tasks isolates the pods of Jobs and CronJobs, which carry the labels: only egress
// is allowed. The policy's name contains a dot, so it cannot collide with that of
// another instance.
func (t Traffic) Tasks(labels map[string]string) *networkingv1.NetworkPolicy {
	return t.isolate(t.Name+".tasks", labels)
}

func (t Traffic) isolate(name string, labels map[string]string) *networkingv1.NetworkPolicy {
	meta := t.Meta()
	meta.Name = name
	return &networkingv1.NetworkPolicy{
		ObjectMeta: meta,
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: labels},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Egress:      t.egress(),
		},
	}
}

func (t Traffic) clients() []networkingv1.NetworkPolicyPeer {
	peers := make([]networkingv1.NetworkPolicyPeer, 0, len(t.Policy.Ingress)+2)
	for _, source := range t.Policy.Ingress {
		peer := networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{MatchLabels: source.NamespaceSelector}}
		if len(source.PodSelector) > 0 {
			peer.PodSelector = &metav1.LabelSelector{MatchLabels: source.PodSelector}
		}
		peers = append(peers, peer)
	}
	if t.Gateway != nil {
		peers = append(peers, namespacePeer(cmp.Or(t.Gateway.ParentRef.Namespace, t.Namespace)))
	}
	if t.OperatorNamespace != "" {
		peers = append(peers, namespacePeer(t.OperatorNamespace))
	}
	return peers
}

func namespacePeer(namespace string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{
		MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
	}}
}

// egress allows DNS, HTTPS for federation and the API server, the database, the
// cache, the Identity service and the additions in the spec.
func (t Traffic) egress() []networkingv1.NetworkPolicyEgressRule {
	dns := tcpPorts(53)
	udp := networkingv1.NetworkPolicyPort{Protocol: ptr.To(corev1.ProtocolUDP), Port: ptr.To(intstr.FromInt32(53))}
	rules := []networkingv1.NetworkPolicyEgressRule{
		{Ports: append([]networkingv1.NetworkPolicyPort{udp}, dns...)},
		{Ports: tcpPorts(443, 6443)},
	}
	if t.Database != nil {
		rules = append(rules, networkingv1.NetworkPolicyEgressRule{Ports: tcpPorts(t.Database.PortOrDefault())})
	}
	if ports := cachePorts(t.Cache); len(ports) > 0 {
		rules = append(rules, networkingv1.NetworkPolicyEgressRule{Ports: tcpPorts(ports...)})
	}
	if t.IdentityURL != "" {
		rules = append(rules, networkingv1.NetworkPolicyEgressRule{Ports: tcpPorts(commonv1.PortOf(t.IdentityURL))})
	}
	if t.Policy != nil {
		for _, rule := range t.Policy.AdditionalEgress {
			rules = append(rules, withProtocol(rule))
		}
	}
	return rules
}

// withProtocol sets the protocol that the API server would default. Server-side
// apply treats the list of rules as a single value, so a default inside it would
// look like permanent drift.
func withProtocol(rule networkingv1.NetworkPolicyEgressRule) networkingv1.NetworkPolicyEgressRule {
	complete := rule.DeepCopy()
	for i := range complete.Ports {
		if complete.Ports[i].Protocol == nil {
			complete.Ports[i].Protocol = ptr.To(corev1.ProtocolTCP)
		}
	}
	return *complete
}

func tcpPorts(ports ...int32) []networkingv1.NetworkPolicyPort {
	result := make([]networkingv1.NetworkPolicyPort, 0, len(ports))
	for _, port := range ports {
		result = append(result, networkingv1.NetworkPolicyPort{Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt32(port))})
	}
	return result
}

// cachePorts returns the distinct ports of the cache servers, in order.
func cachePorts(cache commonv1.CacheSpec) []int32 {
	if cache.ClusterRef != nil {
		return []int32{commonv1.DefaultCachePort}
	}
	var ports []int32
	for _, server := range cache.Servers {
		port := commonv1.DefaultCachePort
		// A server may have the form inet6:[address]:port.
		if _, text, err := net.SplitHostPort(strings.TrimPrefix(server, "inet6:")); err == nil {
			if number, err := strconv.ParseInt(text, 10, 32); err == nil {
				port = int32(number)
			}
		}
		if !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports
}
