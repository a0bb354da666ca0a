package v1alpha1

import (
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// ServiceSpec returns the part of the spec that a Keystone has in common with other services.
func (k *Keystone) ServiceSpec() *commonv1.ServiceSpec { return &k.Spec.ServiceSpec }

// ServiceStatus returns the status of a Keystone.
func (k *Keystone) ServiceStatus() *commonv1.ServiceStatus { return &k.Status.ServiceStatus }
