package services

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/policy"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// specOf builds what the resources of all services have in common.
func specOf(cp *c5c3v1alpha1.ControlPlane, service *c5c3v1alpha1.ServiceSpec, repository string) commonv1.ServiceSpec {
	spec := commonv1.ServiceSpec{
		Image:            imageOr(service.Image, repository, cp.Spec.OpenStackRelease),
		Cache:            *cp.Spec.Infrastructure.Cache.CacheSpec.DeepCopy(),
		Gateway:          service.Gateway.DeepCopy(),
		Resources:        service.Resources.DeepCopy(),
		ImagePullSecrets: slices.Clone(service.ImagePullSecrets),
		PodSettings:      *service.PodSettings.DeepCopy(),
	}
	if service.Replicas != nil {
		spec.Replicas = *service.Replicas
	}
	return spec
}

// dataOf builds what the resources of services with a database have in common. The database
// is on the server of the infrastructure; each service has a name and a user of its own there.
func dataOf(cp *c5c3v1alpha1.ControlPlane, name string, login commonv1.SecretRefSpec) commonv1.DataSpec {
	database := *cp.Spec.Infrastructure.Database.DatabaseSpec.DeepCopy()
	database.Database, database.SecretRef = name, login
	return commonv1.DataSpec{Database: database, DeletionPolicy: cp.Spec.DeletionPolicy}
}

// optionsOf builds what the resources of services with options have in common.
func optionsOf(cp *c5c3v1alpha1.ControlPlane, service *c5c3v1alpha1.ServiceAPISpec, with given) commonv1.OptionsSpec {
	spec := commonv1.OptionsSpec{PolicyOverrides: mergePolicies(with.policy, service.PolicyOverrides)}
	if global := cp.Spec.Global.DeepCopy(); global != nil {
		spec.GlobalExtraConfig = global.ExtraConfig
	}
	return spec
}

// publicURL returns the URL for clients outside the cluster, "" if there is none. behind
// returns the one that a Gateway publishes.
func publicURL(
	service *c5c3v1alpha1.ServiceSpec, api *c5c3v1alpha1.ServiceAPISpec, behind func(*commonv1.GatewaySpec) string,
) string {
	if api.PublicEndpoint == "" && service.Gateway != nil {
		return behind(service.Gateway)
	}
	return api.PublicEndpoint
}

// apiEndpoints returns the endpoints of a service with an API. name returns the name of its
// resource, behind the URL that a Gateway publishes, inside the one for clients inside the
// cluster, and of the settings of a control plane with the service.
func apiEndpoints(
	name func(*c5c3v1alpha1.ControlPlane) string,
	behind func(*commonv1.GatewaySpec) string, inside func(c cluster.Settings, namespace, name string) string,
	of func(*c5c3v1alpha1.ControlPlane) (*c5c3v1alpha1.ServiceSpec, *c5c3v1alpha1.ServiceAPISpec),
) []endpoint {
	internal := func(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
		return inside(c, cp.Namespace, name(cp))
	}
	public := func(c cluster.Settings, cp *c5c3v1alpha1.ControlPlane) string {
		service, api := of(cp)
		return cmp.Or(publicURL(service, api, behind), internal(c, cp))
	}
	return []endpoint{{interfaceName: "public", url: public}, {interfaceName: "internal", url: internal}}
}

// imageOr returns the image of the spec, with the repository and the release as defaults.
func imageOr(image *commonv1.ImageSpec, repository, release string) commonv1.ImageSpec {
	if image != nil {
		return *image
	}
	return commonv1.ImageSpec{Repository: repository, Tag: release}
}

// mergePolicies merges a service's policy over the global one: rule by rule, and with its
// ConfigMap replacing the other.
func mergePolicies(global, service *commonv1.PolicySpec) *commonv1.PolicySpec {
	if global == nil || service == nil {
		if service == nil {
			service = global
		}
		return service.DeepCopy()
	}
	merged := &commonv1.PolicySpec{ConfigMapRef: global.ConfigMapRef}
	if service.ConfigMapRef != nil {
		merged.ConfigMapRef = service.ConfigMapRef
	}
	if merged.ConfigMapRef != nil {
		merged.ConfigMapRef = &corev1.LocalObjectReference{Name: merged.ConfigMapRef.Name}
	}
	if len(global.Rules)+len(service.Rules) > 0 {
		merged.Rules = policy.Merge(global.Rules, service.Rules)
	}
	return merged
}

// globalPolicy returns the rules of spec.global for a service. Rules with the catalog
// type of another service as prefix are left out, because the service does not know and
// would reject them.
func (all List) globalPolicy(cp *c5c3v1alpha1.ControlPlane, of Service) *commonv1.PolicySpec {
	if cp.Spec.Global == nil {
		return nil
	}
	global := cp.Spec.Global.PolicySpec.DeepCopy()
	for _, other := range all {
		if other.name != of.name && other.catalogType != "" {
			maps.DeleteFunc(global.Rules, func(rule, _ string) bool { return strings.HasPrefix(rule, other.catalogType+":") })
		}
	}
	if len(global.Rules) == 0 && global.ConfigMapRef == nil {
		return nil
	}
	return global
}
