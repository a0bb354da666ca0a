package controller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/networking"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

var httpRouteGVK = schema.GroupVersionKind{Group: gatewayv1.GroupName, Version: "v1", Kind: "HTTPRoute"}

// reconcileHTTPRoute routes the public host name through the user's Gateway.
func reconcileHTTPRoute(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	served := s.Kinds.Served(httpRouteGVK)
	switch {
	case k.Spec.Gateway == nil && !served:
		return reconcile.Done(keystonev1alpha1.ReasonHTTPRouteNotRequired, "spec.gateway is not set")
	case k.Spec.Gateway == nil:
		absent := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Name: k.Name, Namespace: k.Namespace}}
		if err := apply.EnsureAbsent(ctx, s.ThirdParty, k, absent); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
		}
		return reconcile.Done(keystonev1alpha1.ReasonHTTPRouteNotRequired, "spec.gateway is not set")
	case !served:
		return reconcile.Waiting(keystonev1alpha1.ReasonGatewayAPINotInstalled,
			"spec.gateway needs the Gateway API, which is not installed; install its CRDs and an implementation")
	}
	route := networking.HTTPRoute(deployment.InstanceOf(s.Pass), k.Spec.Gateway)
	if err := apply.EnsureObject(ctx, s.ThirdParty, s.Scheme, k, route, apply.FieldManager); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonHTTPRouteNotAccepted, err)
	}
	if obstacle := networking.Obstacle(k.Spec.Gateway.ParentRef.Name, route); obstacle != "" {
		return reconcile.Waiting(keystonev1alpha1.ReasonHTTPRouteNotAccepted, obstacle)
	}
	return reconcile.Done(keystonev1alpha1.ReasonHTTPRouteAccepted, "The Gateway has accepted the route")
}
