package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// AnnotationRunAgain on a Barbican makes schema sync and schema check run again
// whenever its value changes, for example after an older database was restored.
const AnnotationRunAgain = "barbican.openstack.c5c3.io/run-again"

// AnnotationRotateKey on a Barbican has the key-encryption key replaced whenever its value
// changes.
const AnnotationRotateKey = "barbican.openstack.c5c3.io/rotate-key"

// ServiceSpec returns the part of the spec that a Barbican has in common with other services.
func (b *Barbican) ServiceSpec() *commonv1.ServiceSpec { return &b.Spec.ServiceSpec }

// DataSpec returns the part of the spec about the database of a Barbican.
func (b *Barbican) DataSpec() *commonv1.DataSpec { return &b.Spec.DataSpec }

// OptionsSpec returns the part of the spec about the options and the policy of a Barbican.
func (b *Barbican) OptionsSpec() *commonv1.OptionsSpec { return &b.Spec.OptionsSpec }

// ServiceUser returns pointers to the Identity service of a Barbican and its user there.
func (b *Barbican) ServiceUser() commonv1.ServiceUser {
	return commonv1.ServiceUser{Identity: &b.Spec.Identity, SecretRef: &b.Spec.ServiceUserSecretRef}
}

// CleanUpSpec returns a pointer to the part of the spec about the removal of what was deleted.
func (b *Barbican) CleanUpSpec() **commonv1.CleanUpSpec { return &b.Spec.CleanUp }

// ServiceStatus returns the status of a Barbican.
func (b *Barbican) ServiceStatus() *commonv1.ServiceStatus { return &b.Status.ServiceStatus }

// GetConditions returns the conditions of the status.
func (b *Barbican) GetConditions() []metav1.Condition { return b.Status.Conditions }

// SetConditions replaces the conditions of the status.
func (b *Barbican) SetConditions(conditions []metav1.Condition) { b.Status.Conditions = conditions }

// SetObservedGeneration records the generation that the status describes.
func (b *Barbican) SetObservedGeneration(generation int64) { b.Status.ObservedGeneration = generation }

// StatusCopy returns a deep copy of the status.
func (b *Barbican) StatusCopy() any { return *b.Status.DeepCopy() }

// Attached returns the part of the status about the secret stores.
func (b *Barbican) Attached() *[]commonv1.Attached { return &b.Status.SecretStores }
