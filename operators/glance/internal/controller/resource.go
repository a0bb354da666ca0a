package controller

import (
	"github.com/c5c3/forge/internal/common/service"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// scope is one pass over one Glance. Its operator has no tools of its own.
type scope = service.Scope[*glancev1alpha1.Glance, struct{}]

func internalEndpoint(s *scope) string {
	return glancev1alpha1.InternalEndpoint(s.Cluster, s.Resource.Namespace, s.Resource.Name)
}

// healthURL returns what says whether the API works. Its root answers 300.
func healthURL(s *scope) string { return internalEndpoint(s) + healthPath }

// endpoint returns the URL for users.
func endpoint(s *scope) string {
	if s.Spec.Gateway != nil {
		return glancev1alpha1.GatewayEndpoint(s.Spec.Gateway)
	}
	return internalEndpoint(s)
}
