package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// ServiceSpec returns the part of the spec that a Keystone has in common with other services.
func (k *Keystone) ServiceSpec() *commonv1.ServiceSpec { return &k.Spec.ServiceSpec }

// DataSpec returns the part of the spec about the database of a Keystone.
func (k *Keystone) DataSpec() *commonv1.DataSpec { return &k.Spec.DataSpec }

// OptionsSpec returns the part of the spec about the options and the policy of a Keystone.
func (k *Keystone) OptionsSpec() *commonv1.OptionsSpec { return &k.Spec.OptionsSpec }

// Attached returns the part of the status about the identity backends.
func (k *Keystone) Attached() *[]commonv1.Attached { return &k.Status.IdentityBackends }

// ServiceStatus returns the status of a Keystone.
func (k *Keystone) ServiceStatus() *commonv1.ServiceStatus { return &k.Status.ServiceStatus }

// GetConditions returns the conditions of the status.
func (k *Keystone) GetConditions() []metav1.Condition { return k.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (k *Keystone) SetConditions(conditions []metav1.Condition) { k.Status.Conditions = conditions }

// SetObservedGeneration records the generation that the status describes.
func (k *Keystone) SetObservedGeneration(generation int64) { k.Status.ObservedGeneration = generation }

// StatusCopy returns a deep copy of the status.
func (k *Keystone) StatusCopy() any { return *k.Status.DeepCopy() }
