package networking

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/testutil/instance"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// named implements the methods that messages need.
type named struct{ service.Resource }

func (named) GetNamespace() string { return "openstack" }

func TestTheNetworkPolicyMessageAdvisesToAllowGatewayProxies(t *testing.T) {
	const advice = "if the proxies of the Gateway run in another namespace, add that namespace to spec.networkPolicy.ingress"
	sources := func(namespaces ...string) *commonv1.ServiceSpec {
		spec := &commonv1.ServiceSpec{
			Gateway:       &commonv1.GatewaySpec{ParentRef: commonv1.GatewayParentRefSpec{Name: "public", Namespace: "ingress"}},
			NetworkPolicy: &commonv1.NetworkPolicySpec{},
		}
		for _, namespace := range namespaces {
			spec.NetworkPolicy.Ingress = append(spec.NetworkPolicy.Ingress, commonv1.NetworkPolicyIngressSource{
				NamespaceSelector: map[string]string{corev1.LabelMetadataName: namespace},
			})
		}
		return spec
	}
	pass := func(spec *commonv1.ServiceSpec) *service.Pass {
		return &service.Pass{Resource: named{}, Spec: spec}
	}
	if got := policiesMessage(pass(sources("ingress", "clients"))); strings.Contains(got, advice) {
		t.Errorf("with other sources it says %q", got)
	}
	got := policiesMessage(pass(sources("ingress")))
	if !strings.HasPrefix(got, "The NetworkPolicies are in place; ") || !strings.Contains(got, advice) {
		t.Errorf("with the Gateway's namespace alone it says %q", got)
	}
}

func TestTheNetworkPolicyAllowsEgressToTheIdentityService(t *testing.T) {
	for name, c := range map[string]struct {
		resource service.Resource
		want     bool
	}{"with a service user": {instance.WithUser(), true}, "without one": {instance.Brownfield(), false}} {
		of := TrafficOf(instance.Pass(t, c.resource, interceptor.Funcs{}))
		for _, policy := range []*networkingv1.NetworkPolicy{of.API(), of.Tasks(nil)} {
			var open bool
			for _, rule := range policy.Spec.Egress {
				for _, port := range rule.Ports {
					open = open || port.Port.IntVal == 5000
				}
			}
			if open != c.want {
				t.Errorf("%s: %s opens the port of the Identity service: %t, want %t", name, policy.Name, open, c.want)
			}
		}
	}
}
