package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// AnnotationRunAgain on a Glance makes schema sync and schema check run again
// whenever its value changes, for example after an older database was restored.
const AnnotationRunAgain = "glance.openstack.c5c3.io/run-again"

// ServiceSpec returns the part of the spec that a Glance has in common with other services.
func (p *Glance) ServiceSpec() *commonv1.ServiceSpec { return &p.Spec.ServiceSpec }

// DataSpec returns the part of the spec about the database of a Glance.
func (p *Glance) DataSpec() *commonv1.DataSpec { return &p.Spec.DataSpec }

// OptionsSpec returns the part of the spec about the options and the policy of a Glance.
func (p *Glance) OptionsSpec() *commonv1.OptionsSpec { return &p.Spec.OptionsSpec }

// ServiceUser returns pointers to the Identity service of a Glance and its user there.
func (p *Glance) ServiceUser() commonv1.ServiceUser {
	return commonv1.ServiceUser{Identity: &p.Spec.Identity, SecretRef: &p.Spec.ServiceUserSecretRef}
}

// CleanUpSpec returns a pointer to the part of the spec about the removal of what was deleted.
func (p *Glance) CleanUpSpec() **commonv1.CleanUpSpec { return &p.Spec.CleanUp }

// ServiceStatus returns the status of a Glance.
func (p *Glance) ServiceStatus() *commonv1.ServiceStatus { return &p.Status.ServiceStatus }

// GetConditions returns the conditions of the status.
func (p *Glance) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (p *Glance) SetConditions(conditions []metav1.Condition) { p.Status.Conditions = conditions }

// SetObservedGeneration records the generation that the status describes.
func (p *Glance) SetObservedGeneration(generation int64) { p.Status.ObservedGeneration = generation }

// StatusCopy returns a deep copy of the status.
func (p *Glance) StatusCopy() any { return *p.Status.DeepCopy() }

// Attached returns the part of the status about the backends.
func (p *Glance) Attached() *[]commonv1.Attached { return &p.Status.Backends }
