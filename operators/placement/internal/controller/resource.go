package controller

import (
	"net/url"
	"strconv"

	"github.com/c5c3/forge/internal/common/service"
	placementv1alpha1 "github.com/c5c3/forge/operators/placement/api/v1alpha1"
)

// placementOf returns the Placement of the pass.
func placementOf(resource service.Resource) *placementv1alpha1.Placement {
	placement, _ := resource.(*placementv1alpha1.Placement)
	return placement
}

func internalEndpoint(p *service.Pass) string {
	return placementv1alpha1.InternalEndpoint(p.Cluster, p.Resource.GetNamespace(), p.Resource.GetName())
}

// endpoint returns the URL for users.
func endpoint(p *service.Pass) string {
	if p.Spec.Gateway != nil {
		return placementv1alpha1.GatewayEndpoint(p.Spec.Gateway.Hostname)
	}
	return internalEndpoint(p)
}

// identityPort returns the TCP port of the Identity service.
func identityPort(resource service.Resource) int32 {
	// Validation has rejected anything that is not a URL.
	address, err := url.Parse(placementOf(resource).Spec.Identity.AuthURL)
	if err == nil {
		if port, err := strconv.ParseInt(address.Port(), 10, 32); err == nil {
			return int32(port)
		}
		if address.Scheme == "https" {
			return 443
		}
	}
	return 80
}
