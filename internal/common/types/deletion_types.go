package types

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// DeletionPolicy determines what happens to the data of a resource when the resource is deleted.
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

// CheckDeletionPolicy rejects an unknown policy. An empty one is valid.
func CheckDeletionPolicy(policy DeletionPolicy, at *field.Path) field.ErrorList {
	if policy == "" || slices.Contains(deletionPolicies, policy) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, policy, deletionPolicies)}
}

// AnnotationDeletionProtection makes admission reject the deletion of a resource with data on
// which it is set to "true".
const AnnotationDeletionProtection = "forge.c5c3.io/deletion-protection"
