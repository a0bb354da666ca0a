package controller

import (
	"github.com/c5c3/forge/internal/common/service"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

func internalEndpoint(p *service.Pass) string {
	return placementv1alpha1.InternalEndpoint(p.Cluster, p.Resource.GetNamespace(), p.Resource.GetName())
}

// endpoint returns the URL for users.
func endpoint(p *service.Pass) string {
	if p.Spec.Gateway != nil {
		return placementv1alpha1.GatewayEndpoint(p.Spec.Gateway)
	}
	return internalEndpoint(p)
}
