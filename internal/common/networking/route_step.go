package networking

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

var httpRouteGVK = schema.GroupVersionKind{Group: gatewayv1.GroupName, Version: "v1", Kind: "HTTPRoute"}

// ReconcileRoute routes the public host name through the user's Gateway.
func ReconcileRoute(ctx context.Context, p *service.Pass) reconcile.Outcome {
	gateway, served := p.Spec.Gateway, p.Kinds.Served(httpRouteGVK)
	switch {
	case gateway == nil && !served:
		return reconcile.Done(vocabulary.ReasonHTTPRouteNotRequired, "spec.gateway is not set")
	case gateway == nil:
		absent := &gatewayv1.HTTPRoute{ObjectMeta: p.Meta(p.Resource.GetName())}
		if err := apply.EnsureAbsent(ctx, p.ThirdParty, p.Resource, absent); err != nil {
			return reconcile.Failed(vocabulary.ReasonReconcileError, err)
		}
		return reconcile.Done(vocabulary.ReasonHTTPRouteNotRequired, "spec.gateway is not set")
	case !served:
		return reconcile.Waiting(vocabulary.ReasonGatewayAPINotInstalled,
			"spec.gateway needs the Gateway API, which is not installed; install its CRDs and an implementation")
	}
	route := HTTPRoute(deployment.InstanceOf(p), gateway, p.Path)
	if err := apply.EnsureObject(ctx, p.ThirdParty, p.Scheme, p.Resource, route, apply.FieldManager); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonHTTPRouteNotAccepted, err)
	}
	if obstacle := Obstacle(gateway.ParentRef.Name, route); obstacle != "" {
		return reconcile.Waiting(vocabulary.ReasonHTTPRouteNotAccepted, obstacle)
	}
	return reconcile.Done(vocabulary.ReasonHTTPRouteAccepted, "The Gateway has accepted the route")
}
