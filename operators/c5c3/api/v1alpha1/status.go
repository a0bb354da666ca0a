package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// GetConditions returns the conditions of the status.
func (cp *ControlPlane) GetConditions() []metav1.Condition {
	return cp.Status.Conditions
}

// SetConditions replaces the conditions of the status.
func (cp *ControlPlane) SetConditions(conditions []metav1.Condition) {
	cp.Status.Conditions = conditions
}

// SetObservedGeneration records the generation that the status describes.
func (cp *ControlPlane) SetObservedGeneration(generation int64) {
	cp.Status.ObservedGeneration = generation
}

// StatusCopy returns a deep copy of the status.
func (cp *ControlPlane) StatusCopy() any {
	return *cp.Status.DeepCopy()
}

// GetConditions returns the conditions of the status.
func (r *CredentialRotation) GetConditions() []metav1.Condition {
	return r.Status.Conditions
}

// SetConditions replaces the conditions of the status.
func (r *CredentialRotation) SetConditions(conditions []metav1.Condition) {
	r.Status.Conditions = conditions
}

// SetObservedGeneration records the generation that the status describes.
func (r *CredentialRotation) SetObservedGeneration(generation int64) {
	r.Status.ObservedGeneration = generation
}

// StatusCopy returns a deep copy of the status.
func (r *CredentialRotation) StatusCopy() any {
	return *r.Status.DeepCopy()
}

// GetConditions returns the conditions of the status.
func (a *SecretAggregate) GetConditions() []metav1.Condition {
	return a.Status.Conditions
}

// SetConditions replaces the conditions of the status.
func (a *SecretAggregate) SetConditions(conditions []metav1.Condition) {
	a.Status.Conditions = conditions
}

// SetObservedGeneration records the generation that the status describes.
func (a *SecretAggregate) SetObservedGeneration(generation int64) {
	a.Status.ObservedGeneration = generation
}

// StatusCopy returns a deep copy of the status.
func (a *SecretAggregate) StatusCopy() any {
	return *a.Status.DeepCopy()
}
