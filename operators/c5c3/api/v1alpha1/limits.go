package v1alpha1

import (
	"slices"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// MaxDatabaseReplicas is the highest number of database servers. Each write waits for all of
// them.
const MaxDatabaseReplicas int32 = 15

// Limits are the rules that refuse new values only.
var Limits = slices.Concat(rules.Limits[*ControlPlane]{
	rules.AtMost("spec.infrastructure.database.replicas", MaxDatabaseReplicas, databaseReplicas),
	rules.AtMost("spec.infrastructure.cache.replicas", commonv1.MaxCacheReplicas, func(cp *ControlPlane) *int32 {
		return &cp.Spec.Infrastructure.Cache.Replicas
	}),
}, serviceLimits("spec.services.keystone", keystoneOf), apiLimits("spec.services.keystone", keystoneAPI), furtherLimits())

// Outdated describes the values of a ControlPlane that a new one could not have, "" if there
// are none.
func Outdated(cp *ControlPlane) string { return Limits.Outdated(cp) }

func furtherLimits() rules.Limits[*ControlPlane] {
	all := make(rules.Limits[*ControlPlane], 0, len(furtherServices))
	for _, s := range furtherServices {
		all = append(all, serviceLimits(s.path(), s.spec)...)
		if s.api != nil {
			all = append(all, apiLimits(s.path(), s.api)...)
		}
	}
	return all
}

// serviceLimits are those of each service, which pass over a control plane without it.
func serviceLimits(path string, get func(*ControlPlane) *ServiceSpec) rules.Limits[*ControlPlane] {
	of := func(cp *ControlPlane) *ServiceSpec {
		if service := get(cp); service != nil {
			return service
		}
		return &ServiceSpec{}
	}
	return rules.Limits[*ControlPlane]{
		rules.AtMost(path+".replicas", commonv1.MaxReplicas, func(cp *ControlPlane) *int32 { return of(cp).Replicas }),
		commonv1.GatewayPathLimit(path+".gateway.path", func(cp *ControlPlane) *commonv1.GatewaySpec { return of(cp).Gateway }),
	}
}

// apiLimits are those of a service with an API.
func apiLimits(path string, get func(*ControlPlane) *ServiceAPISpec) rules.Limits[*ControlPlane] {
	return rules.Limits[*ControlPlane]{
		rules.Text(path+".publicEndpoint", func(cp *ControlPlane) string {
			if api := get(cp); api != nil {
				return api.PublicEndpoint
			}
			return ""
		}, commonv1.ValidateURLText),
	}
}
