package networking

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

func TestRouteReadinessFollowsTheConditionsOfItsGateway(t *testing.T) {
	condition := func(conditionType gatewayv1.RouteConditionType, status metav1.ConditionStatus, generation int64) metav1.Condition {
		return metav1.Condition{
			Type: string(conditionType), Status: status, Reason: "Because", Message: "it says so", ObservedGeneration: generation,
		}
	}
	accepted := condition(gatewayv1.RouteConditionAccepted, metav1.ConditionTrue, 2)
	const refs = gatewayv1.RouteConditionResolvedRefs
	for name, c := range map[string]struct {
		gateway    string
		conditions []metav1.Condition
		want       string
	}{
		"both":                 {"gateway", []metav1.Condition{accepted, condition(refs, metav1.ConditionTrue, 2)}, ""},
		"nothing about refs":   {"gateway", []metav1.Condition{accepted}, ""},
		"unknown refs":         {"gateway", []metav1.Condition{accepted, condition(refs, metav1.ConditionUnknown, 2)}, ""},
		"refs of a past route": {"gateway", []metav1.Condition{accepted, condition(refs, metav1.ConditionFalse, 1)}, ""},
		"broken refs": {
			"gateway",
			[]metav1.Condition{accepted, condition(refs, metav1.ConditionFalse, 2)},
			"Gateway gateway reports ResolvedRefs=False (Because): it says so",
		},
		"refused": {
			"gateway", []metav1.Condition{condition(gatewayv1.RouteConditionAccepted, metav1.ConditionFalse, 2)}, "reports Accepted=False",
		},
		"a past route accepted": {
			"gateway", []metav1.Condition{condition(gatewayv1.RouteConditionAccepted, metav1.ConditionTrue, 1)}, "has not reported Accepted",
		},
		"nothing":         {"gateway", nil, "has not reported Accepted"},
		"another Gateway": {"other", []metav1.Condition{accepted}, "Gateway gateway has not processed the route yet"},
	} {
		t.Run(name, func(t *testing.T) {
			route := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
			route.Status.Parents = []gatewayv1.RouteParentStatus{{
				ParentRef: gatewayv1.ParentReference{Name: gatewayv1.ObjectName(c.gateway)}, Conditions: c.conditions,
			}}
			if got := Obstacle("gateway", route); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestARouteToAServiceWithLargeBodiesHasNoTimeLimit(t *testing.T) {
	gateway := &commonv1.GatewaySpec{Hostname: "images.example.com"}
	for _, large := range []bool{false, true} {
		rule := HTTPRoute(deployment.Instance{Name: "harbour", Port: 7000, LargeBodies: large}, gateway, "").Spec.Rules[0]
		if (rule.Timeouts != nil) != large || large && (*rule.Timeouts.Request != "0s" || *rule.Timeouts.BackendRequest != "0s") {
			t.Errorf("with large bodies %t: %+v", large, rule.Timeouts)
		}
	}
}
