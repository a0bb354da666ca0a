// Package networking builds the objects that expose the API of a service to clients
// and isolate it from everything else.
package networking

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/deployment"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// HTTPRoute routes the public host name to the Service of the instance, whose API begins at
// the path.
func HTTPRoute(i deployment.Instance, gateway *commonv1.GatewaySpec, api string) *gatewayv1.HTTPRoute {
	// Group, kind and weight are the API's defaults. They are set explicitly,
	// because server-side apply treats the lists that contain them as single
	// values.
	parent := gatewayv1.ParentReference{
		Group: ptr.To(gatewayv1.Group(gatewayv1.GroupName)), Kind: ptr.To(gatewayv1.Kind("Gateway")),
		Name: gatewayv1.ObjectName(gateway.ParentRef.Name),
	}
	if gateway.ParentRef.Namespace != "" {
		parent.Namespace = ptr.To(gatewayv1.Namespace(gateway.ParentRef.Namespace))
	}
	if gateway.ParentRef.SectionName != "" {
		parent.SectionName = ptr.To(gatewayv1.SectionName(gateway.ParentRef.SectionName))
	}
	route := &gatewayv1.HTTPRoute{
		ObjectMeta: i.Meta(),
		Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{parent}},
			Hostnames:       []gatewayv1.Hostname{gatewayv1.Hostname(gateway.Hostname)},
			Rules: []gatewayv1.HTTPRouteRule{{
				Matches: []gatewayv1.HTTPRouteMatch{{Path: &gatewayv1.HTTPPathMatch{
					Type: ptr.To(gatewayv1.PathMatchPathPrefix), Value: ptr.To(gateway.RoutedPath()),
				}}},
				Filters:  removal(gateway.Prefix(api)),
				Timeouts: timeouts(i),
				BackendRefs: []gatewayv1.HTTPBackendRef{{BackendRef: gatewayv1.BackendRef{
					Weight: ptr.To(int32(1)),
					BackendObjectReference: gatewayv1.BackendObjectReference{
						Group: ptr.To(gatewayv1.Group("")),
						Kind:  ptr.To(gatewayv1.Kind("Service")), Name: gatewayv1.ObjectName(i.Name), Port: ptr.To(i.Port),
					},
				}}},
			}},
		},
	}
	route.Annotations = gateway.Annotations
	return route
}

// timeouts leaves those of the Gateway in force, unless a request may take any time: 0s stands for
// no limit (https://gateway-api.sigs.k8s.io/reference/spec/#httproutetimeouts).
func timeouts(i deployment.Instance) *gatewayv1.HTTPRouteTimeouts {
	if !i.LargeBodies {
		return nil
	}
	return &gatewayv1.HTTPRouteTimeouts{Request: ptr.To(gatewayv1.Duration("0s")), BackendRequest: ptr.To(gatewayv1.Duration("0s"))}
}

// removal returns the filters that remove a prefix from the path of a request. They pass it on in
// the header from which oslo.middleware takes the prefix of the links in an answer.
func removal(prefix string) []gatewayv1.HTTPRouteFilter {
	if prefix == "" {
		return nil
	}
	return []gatewayv1.HTTPRouteFilter{
		{
			Type: gatewayv1.HTTPRouteFilterURLRewrite,
			URLRewrite: &gatewayv1.HTTPURLRewriteFilter{Path: &gatewayv1.HTTPPathModifier{
				Type: gatewayv1.PrefixMatchHTTPPathModifier, ReplacePrefixMatch: ptr.To("/"),
			}},
		},
		{
			Type: gatewayv1.HTTPRouteFilterRequestHeaderModifier,
			RequestHeaderModifier: &gatewayv1.HTTPHeaderFilter{
				Set: []gatewayv1.HTTPHeader{{Name: "X-Forwarded-Prefix", Value: prefix}},
			},
		},
	}
}

// Obstacle explains why the Gateway does not serve the current route; it returns ""
// if it does. Not every Gateway reports ResolvedRefs, so only False counts.
func Obstacle(gateway string, route *gatewayv1.HTTPRoute) string {
	for _, parent := range route.Status.Parents {
		if string(parent.ParentRef.Name) != gateway {
			continue
		}
		accepted := reported(parent, gatewayv1.RouteConditionAccepted, route.Generation)
		resolved := reported(parent, gatewayv1.RouteConditionResolvedRefs, route.Generation)
		switch {
		case accepted == nil:
			return fmt.Sprintf("Gateway %s has not reported %s for the current route yet", gateway, gatewayv1.RouteConditionAccepted)
		case accepted.Status != metav1.ConditionTrue:
			return refusal(gateway, accepted)
		case resolved != nil && resolved.Status == metav1.ConditionFalse:
			return refusal(gateway, resolved)
		}
		return ""
	}
	return fmt.Sprintf("Gateway %s has not processed the route yet; check that it exists and that its listeners allow this namespace", gateway)
}

// reported returns the condition for a generation of the route, or nil.
func reported(
	parent gatewayv1.RouteParentStatus, conditionType gatewayv1.RouteConditionType, generation int64,
) *metav1.Condition {
	condition := meta.FindStatusCondition(parent.Conditions, string(conditionType))
	if condition == nil || condition.ObservedGeneration < generation {
		return nil
	}
	return condition
}

func refusal(gateway string, condition *metav1.Condition) string {
	return fmt.Sprintf("Gateway %s reports %s=%s (%s): %s", gateway, condition.Type, condition.Status, condition.Reason, condition.Message)
}
