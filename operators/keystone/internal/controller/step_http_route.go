package controller

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

var httpRouteGVK = schema.GroupVersionKind{Group: gatewayv1.GroupName, Version: "v1", Kind: "HTTPRoute"}

// reconcileHTTPRoute routes the public host name through the user's Gateway.
func reconcileHTTPRoute(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	served := s.kinds.Served(httpRouteGVK)
	switch {
	case k.Spec.Gateway == nil && !served:
		return reconcile.Done(keystonev1alpha1.ReasonHTTPRouteNotRequired, "spec.gateway is not set")
	case k.Spec.Gateway == nil:
		absent := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace}}
		if err := apply.EnsureAbsent(ctx, s.foreign, k, absent); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
		}
		return reconcile.Done(keystonev1alpha1.ReasonHTTPRouteNotRequired, "spec.gateway is not set")
	case !served:
		return reconcile.Waiting(keystonev1alpha1.ReasonGatewayAPINotInstalled,
			"spec.gateway needs the Gateway API, which is not installed; install its CRDs and an implementation")
	}
	route := httpRoute(k)
	if err := apply.EnsureObject(ctx, s.foreign, s.scheme, k, route, apply.FieldManager); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonHTTPRouteNotAccepted, err)
	}
	if obstacle := routeObstacle(k, route); obstacle != "" {
		return reconcile.Waiting(keystonev1alpha1.ReasonHTTPRouteNotAccepted, obstacle)
	}
	return reconcile.Done(keystonev1alpha1.ReasonHTTPRouteAccepted, "The Gateway has accepted the route")
}

func httpRoute(k *keystonev1alpha1.Keystone) *gatewayv1.HTTPRoute {
	gateway := k.Spec.Gateway
	// Group, kind and weight are the API's defaults. They are spelled out because
	// the lists they stand in are single values to server-side apply.
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
	return &gatewayv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{
			Name: k.Name, Namespace: k.Namespace, Labels: commonLabels(k), Annotations: gateway.Annotations,
		},
		Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{parent}},
			Hostnames:       []gatewayv1.Hostname{gatewayv1.Hostname(gateway.Hostname)},
			Rules: []gatewayv1.HTTPRouteRule{{
				Matches: []gatewayv1.HTTPRouteMatch{{Path: &gatewayv1.HTTPPathMatch{
					Type: ptr.To(gatewayv1.PathMatchPathPrefix), Value: ptr.To("/" + strings.TrimLeft(gateway.Path, "/")),
				}}},
				BackendRefs: []gatewayv1.HTTPBackendRef{{BackendRef: gatewayv1.BackendRef{
					Weight: ptr.To(int32(1)),
					BackendObjectReference: gatewayv1.BackendObjectReference{
						Group: ptr.To(gatewayv1.Group("")),
						Kind:  ptr.To(gatewayv1.Kind("Service")), Name: gatewayv1.ObjectName(k.Name), Port: ptr.To(gatewayv1.PortNumber(apiPort)),
					},
				}}},
			}},
		},
	}
}

// routeObstacle says why the configured Gateway does not serve the current
// route, "" when it does. Not every Gateway reports ResolvedRefs, so that only a
// False of it counts.
func routeObstacle(k *keystonev1alpha1.Keystone, route *gatewayv1.HTTPRoute) string {
	name := k.Spec.Gateway.ParentRef.Name
	for _, parent := range route.Status.Parents {
		if string(parent.ParentRef.Name) != name {
			continue
		}
		accepted := reported(parent, gatewayv1.RouteConditionAccepted, route.Generation)
		resolved := reported(parent, gatewayv1.RouteConditionResolvedRefs, route.Generation)
		switch {
		case accepted == nil:
			return fmt.Sprintf("Gateway %s has not reported %s for the current route yet", name, gatewayv1.RouteConditionAccepted)
		case accepted.Status != metav1.ConditionTrue:
			return refusal(name, accepted)
		case resolved != nil && resolved.Status == metav1.ConditionFalse:
			return refusal(name, resolved)
		}
		return ""
	}
	return fmt.Sprintf("Gateway %s has not looked at the route yet; check that it exists and that its listeners allow this namespace", name)
}

// reported is a condition for a generation of the route, nil when there is none.
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
