package controller

import (
	"strings"
	"testing"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestTheNetworkPolicySaysWhenItNamesNoProxies(t *testing.T) {
	const advice = "if the proxies of the Gateway run in another namespace, name it in spec.networkPolicy.ingress"
	k := managed()
	if got := networkPolicyMessage(k); strings.Contains(got, advice) {
		t.Errorf("with other sources it says %q", got)
	}
	k.Spec.NetworkPolicy.Ingress = []commonv1.NetworkPolicyIngressSource{{
		NamespaceSelector: map[string]string{"kubernetes.io/metadata.name": "ingress"},
	}}
	if got := networkPolicyMessage(k); !strings.HasPrefix(got, "The NetworkPolicies are in place; ") || !strings.Contains(got, advice) {
		t.Errorf("with the Gateway's namespace alone it says %q", got)
	}
}
