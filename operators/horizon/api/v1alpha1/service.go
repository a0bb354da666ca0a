package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// ServiceSpec returns the part of the spec that a Horizon has in common with other services.
func (h *Horizon) ServiceSpec() *commonv1.ServiceSpec { return &h.Spec.ServiceSpec }

// ServiceStatus returns the status of a Horizon.
func (h *Horizon) ServiceStatus() *commonv1.ServiceStatus { return &h.Status.ServiceStatus }

// IdentityURL returns the URL of the Identity service that the pods use.
func (h *Horizon) IdentityURL() string { return h.Spec.Identity.AuthURL }

// GetConditions returns the conditions of the status.
func (h *Horizon) GetConditions() []metav1.Condition { return h.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (h *Horizon) SetConditions(conditions []metav1.Condition) { h.Status.Conditions = conditions }

// SetObservedGeneration records the generation that the status describes.
func (h *Horizon) SetObservedGeneration(generation int64) { h.Status.ObservedGeneration = generation }

// StatusCopy returns a deep copy of the status.
func (h *Horizon) StatusCopy() any { return *h.Status.DeepCopy() }
