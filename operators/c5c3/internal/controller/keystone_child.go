package controller

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/policy"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const keystoneRepository = "ghcr.io/c5c3/keystone"

// keystoneChild is what a control plane sets on its Keystone. What it leaves
// unset has the Keystone's own default, or what somebody else set there.
func keystoneChild(cp *c5c3v1alpha1.ControlPlane) (*keystonev1alpha1.Keystone, error) {
	service := cp.Spec.Services.Keystone
	keystone := &keystonev1alpha1.Keystone{
		ObjectMeta: childMeta(cp, cp.KeystoneName()),
		Spec: keystonev1alpha1.KeystoneSpec{
			DeletionPolicy: cp.Spec.DeletionPolicy,

			Image:    keystoneImage(cp),
			Database: *cp.Spec.Infrastructure.Database.DatabaseSpec.DeepCopy(),
			Cache:    *cp.Spec.Infrastructure.Cache.DeepCopy(),
			Bootstrap: keystonev1alpha1.BootstrapSpec{
				AdminPasswordSecretRef: adminSecretRef(cp), Region: cp.Spec.Region, PublicEndpoint: publicEndpoint(service),
			},
			Gateway:          service.Gateway.DeepCopy(),
			PolicyOverrides:  mergePolicies(cp.Spec.Global, service.PolicyOverrides),
			ImagePullSecrets: slices.Clone(service.ImagePullSecrets),
		},
	}
	keystone.Spec.Database.SecretRef = databaseSecretRef(cp)
	if service.Replicas != nil {
		keystone.Spec.Replicas = *service.Replicas
	}
	if service.RotationInterval != nil {
		schedule, err := rotationSchedule(*service.RotationInterval)
		if err != nil {
			return nil, err
		}
		keystone.Spec.Fernet.RotationSchedule = schedule
		keystone.Spec.CredentialKeys.RotationSchedule = schedule
	}
	return keystone, nil
}

func keystoneImage(cp *c5c3v1alpha1.ControlPlane) commonv1.ImageSpec {
	if image := cp.Spec.Services.Keystone.Image; image != nil {
		return *image
	}
	return commonv1.ImageSpec{Repository: keystoneRepository, Tag: cp.Spec.OpenStackRelease}
}

// publicEndpoint is empty for a Keystone that is reached inside the cluster
// only.
func publicEndpoint(service *c5c3v1alpha1.ServiceKeystoneSpec) string {
	switch {
	case service.PublicEndpoint != "":
		return service.PublicEndpoint
	case service.Gateway != nil:
		return keystonev1alpha1.GatewayEndpoint(service.Gateway.Hostname)
	}
	return ""
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

// rotationSchedule is the interval as a schedule. Days of the month or the week
// cannot tell every n days, so that an interval other than a day or a week counts
// from the last rotation.
func rotationSchedule(interval metav1.Duration) (string, error) {
	days, ok := c5c3v1alpha1.RotationDays(interval)
	switch {
	case !ok:
		return "", fmt.Errorf("spec.services.keystone.rotationInterval is %s: set it to a positive multiple of 24h, for example 168h",
			interval.Duration)
	case days == 1:
		return "0 0 * * *", nil
	case days == 7:
		return "0 0 * * 0", nil
	}
	return fmt.Sprintf("@every %dh", 24*days), nil
}
