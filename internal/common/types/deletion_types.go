package types

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DeletionPolicy says what becomes of the data of a resource when the resource
// is deleted.
//
// +kubebuilder:validation:Enum=Delete;Retain
type DeletionPolicy string

const (
	// DeletionPolicyDelete removes the data together with the resource.
	DeletionPolicyDelete DeletionPolicy = "Delete"
	// DeletionPolicyRetain keeps the data, and whatever is needed to read it.
	DeletionPolicyRetain DeletionPolicy = "Retain"
)

var deletionPolicies = []DeletionPolicy{DeletionPolicyDelete, DeletionPolicyRetain}

// CheckDeletionPolicy refuses a policy that there is not. An empty one is fine.
func CheckDeletionPolicy(policy DeletionPolicy, at *field.Path) field.ErrorList {
	if policy == "" || slices.Contains(deletionPolicies, policy) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, policy, deletionPolicies)}
}

// AnnotationDeletionProtection on a resource with data has admission refuse to
// delete the resource while its value is "true".
const AnnotationDeletionProtection = "forge.c5c3.io/deletion-protection"

// CheckDeletion refuses to delete an object that [AnnotationDeletionProtection]
// protects, with an error of type Forbidden.
func CheckDeletion(resource schema.GroupResource, obj metav1.Object) error {
	if obj.GetAnnotations()[AnnotationDeletionProtection] != "true" {
		return nil
	}
	return apierrors.NewForbidden(resource, obj.GetName(), fmt.Errorf(
		"it is protected from deletion; remove the annotation %s first", AnnotationDeletionProtection))
}
