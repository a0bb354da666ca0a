package controller

import (
	"github.com/c5c3/forge/internal/common/service"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
)

// scope is one pass over one Barbican. Its operator has no tools of its own.
type scope = service.Scope[*barbicanv1alpha1.Barbican, struct{}]

func internalEndpoint(s *scope) string {
	return barbicanv1alpha1.InternalEndpoint(s.Cluster, s.Resource.Namespace, s.Resource.Name)
}

func healthURL(s *scope) string { return internalEndpoint(s) + healthPath }

// endpoint returns the URL for users.
func endpoint(s *scope) string {
	if s.Spec.Gateway != nil {
		return barbicanv1alpha1.GatewayEndpoint(s.Spec.Gateway)
	}
	return internalEndpoint(s)
}
