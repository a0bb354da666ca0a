package controller

import (
	"github.com/c5c3/forge/internal/common/service"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
)

// scope is one pass over one Horizon. Its operator has no tools of its own.
type scope = service.Scope[*horizonv1alpha1.Horizon, struct{}]

func internalEndpoint(s *scope) string {
	return horizonv1alpha1.InternalEndpoint(s.Cluster, s.Resource.Namespace, s.Resource.Name)
}

// loginPage returns the URL of the login page inside the cluster.
func loginPage(s *scope) string { return internalEndpoint(s) + loginPath }

// endpoint returns the URL for users.
func endpoint(s *scope) string {
	if s.Spec.Gateway != nil {
		return horizonv1alpha1.GatewayEndpoint(s.Spec.Gateway)
	}
	return internalEndpoint(s)
}
