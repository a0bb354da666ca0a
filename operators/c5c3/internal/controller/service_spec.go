package controller

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/policy"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// imageOr is the image that the spec names, or the release of the repository.
func imageOr(image *commonv1.ImageSpec, repository, release string) commonv1.ImageSpec {
	if image != nil {
		return *image
	}
	return commonv1.ImageSpec{Repository: repository, Tag: release}
}

// mergePolicies lets a service's policy win over the global one: rule by rule,
// and with its ConfigMap in place of the other.
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
