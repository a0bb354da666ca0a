package networking

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// instance implements the methods that messages need.
type instance struct{ service.Resource }

func (instance) GetNamespace() string { return "openstack" }

func TestTheNetworkPolicySaysWhenItNamesNoProxies(t *testing.T) {
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
		return &service.Pass{Resource: instance{}, Spec: spec}
	}
	if got := policiesMessage(pass(sources("ingress", "clients"))); strings.Contains(got, advice) {
		t.Errorf("with other sources it says %q", got)
	}
	got := policiesMessage(pass(sources("ingress")))
	if !strings.HasPrefix(got, "The NetworkPolicies are in place; ") || !strings.Contains(got, advice) {
		t.Errorf("with the Gateway's namespace alone it says %q", got)
	}
}
