package controller

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcileNetworkPolicy isolates the API pods, and the Jobs beside them, when
// the spec asks for it.
func reconcileNetworkPolicy(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	api, tasks := apiNetworkPolicy(k, s.operatorNamespace), taskNetworkPolicy(k)
	if k.Spec.NetworkPolicy == nil {
		if err := s.removeNetworkPolicies(ctx, api, tasks); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
		}
		return reconcile.Done(keystonev1alpha1.ReasonNetworkPolicyNotRequired, "spec.networkPolicy is not set")
	}
	for _, policy := range []*networkingv1.NetworkPolicy{api, tasks} {
		if err := apply.EnsureObject(ctx, s.client, s.scheme, k, policy, apply.FieldManager); err != nil {
			return reconcile.WriteFailed(keystonev1alpha1.ReasonReconcileError, err)
		}
	}
	return reconcile.Done(keystonev1alpha1.ReasonNetworkPolicyReady, networkPolicyMessage(k))
}

// removeNetworkPolicies starts with the one of others, which isolates the API on
// its own. The cache does not show it, so the API server is asked as long as there
// is one of the operator's.
func (s *scope) removeNetworkPolicies(ctx context.Context, own ...*networkingv1.NetworkPolicy) error {
	k := s.keystone
	err := s.client.Get(ctx, client.ObjectKeyFromObject(own[0]), &networkingv1.NetworkPolicy{})
	switch {
	case err == nil:
		if err := s.removeClients(ctx); err != nil {
			return err
		}
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("reading NetworkPolicy %s: %w", own[0].Name, err)
	}
	// The first one goes last, because it is what says that there is something to do.
	for _, policy := range slices.Backward(own) {
		if err := apply.EnsureAbsent(ctx, s.client, k, policy); err != nil {
			return err
		}
	}
	return nil
}

// removeClients removes the NetworkPolicy of others that the Keystone owns with
// them. A user's of that name stays.
func (s *scope) removeClients(ctx context.Context) error {
	k := s.keystone
	policy := &networkingv1.NetworkPolicy{}
	err := s.live.Get(ctx, s.key(keystonev1alpha1.ClientsPolicyName(k.Name)), policy)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading NetworkPolicy %s: %w", keystonev1alpha1.ClientsPolicyName(k.Name), err)
	}
	if !slices.ContainsFunc(policy.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == k.UID }) {
		return nil
	}
	err = s.client.Delete(ctx, policy, client.Preconditions{UID: &policy.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting NetworkPolicy %s: %w", policy.Name, err)
	}
	return nil
}

func networkPolicyMessage(k *keystonev1alpha1.Keystone) string {
	message := "The NetworkPolicies are in place"
	if advice := k.ProxyAdvice(); advice != "" {
		message += "; " + advice
	}
	return message
}

func apiNetworkPolicy(k *keystonev1alpha1.Keystone, operatorNamespace string) *networkingv1.NetworkPolicy {
	policy := &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace, Labels: commonLabels(k)},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: selectorLabels(k)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Egress:      egressRules(k),
		},
	}
	if k.Spec.NetworkPolicy != nil {
		policy.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{
			Ports: tcpPorts(apiPort), From: ingressPeers(k, operatorNamespace),
		}}
	}
	return policy
}

// taskNetworkPolicy lets Jobs and CronJobs reach what they need and lets
// nothing reach them. Its name holds a dot, which the name of a Keystone cannot.
func taskNetworkPolicy(k *keystonev1alpha1.Keystone) *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: k.Name + ".tasks", Namespace: k.Namespace, Labels: commonLabels(k)},
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{labelName: taskName, labelInstance: k.Name}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Egress:      egressRules(k),
		},
	}
}

func ingressPeers(k *keystonev1alpha1.Keystone, operatorNamespace string) []networkingv1.NetworkPolicyPeer {
	peers := make([]networkingv1.NetworkPolicyPeer, 0, len(k.Spec.NetworkPolicy.Ingress)+2)
	for _, source := range k.Spec.NetworkPolicy.Ingress {
		peer := networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{MatchLabels: source.NamespaceSelector}}
		if len(source.PodSelector) > 0 {
			peer.PodSelector = &metav1.LabelSelector{MatchLabels: source.PodSelector}
		}
		peers = append(peers, peer)
	}
	if gateway := k.Spec.Gateway; gateway != nil {
		peers = append(peers, namespacePeer(cmp.Or(gateway.ParentRef.Namespace, k.Namespace)))
	}
	if operatorNamespace != "" {
		peers = append(peers, namespacePeer(operatorNamespace))
	}
	return peers
}

func namespacePeer(namespace string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{
		MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
	}}
}

// egressRules allow name resolution, HTTPS for federation and the API server,
// the database, the cache and what the spec adds.
func egressRules(k *keystonev1alpha1.Keystone) []networkingv1.NetworkPolicyEgressRule {
	dns := tcpPorts(53)
	udp := networkingv1.NetworkPolicyPort{Protocol: ptr.To(corev1.ProtocolUDP), Port: ptr.To(intstr.FromInt32(53))}
	rules := []networkingv1.NetworkPolicyEgressRule{
		{Ports: append([]networkingv1.NetworkPolicyPort{udp}, dns...)},
		{Ports: tcpPorts(443, 6443)},
		{Ports: tcpPorts(k.Spec.Database.PortOrDefault())},
	}
	if ports := cachePorts(k); len(ports) > 0 {
		rules = append(rules, networkingv1.NetworkPolicyEgressRule{Ports: tcpPorts(ports...)})
	}
	if k.Spec.NetworkPolicy != nil {
		for _, rule := range k.Spec.NetworkPolicy.AdditionalEgress {
			rules = append(rules, withProtocol(rule))
		}
	}
	return rules
}

// withProtocol sets the protocol that the API server would fill in. The list of
// rules is one value to server-side apply: a default inside it would look like
// drift for ever.
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

// cachePorts are the distinct ports of the cache servers, in order.
func cachePorts(k *keystonev1alpha1.Keystone) []int32 {
	if k.Spec.Cache.ClusterRef != nil {
		return []int32{commonv1.DefaultCachePort}
	}
	var ports []int32
	for _, server := range k.Spec.Cache.Servers {
		port := commonv1.DefaultCachePort
		// A server may be written as inet6:[address]:port.
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
