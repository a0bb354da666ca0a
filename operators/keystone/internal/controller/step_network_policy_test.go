package controller

import (
	"strings"
	"testing"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestTheNetworkPolicySaysWhenItNamesNoProxies(t *testing.T) {
	const advice = "if the proxies of the Gateway run in another namespace, name it in spec.networkPolicy.ingress"
	k := managed()
	if got := networkPolicyMessage(k); strings.Contains(got, advice) {
		t.Errorf("with other sources it says %q", got)
	}
	k.Spec.NetworkPolicy.Ingress = []keystonev1alpha1.NetworkPolicyIngressSource{{
		NamespaceSelector: map[string]string{"kubernetes.io/metadata.name": "ingress"},
	}}
	if got := networkPolicyMessage(k); !strings.HasPrefix(got, "The NetworkPolicies are in place; ") || !strings.Contains(got, advice) {
		t.Errorf("with the Gateway's namespace alone it says %q", got)
	}
}
