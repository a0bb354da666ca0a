// Package v1alpha1 is the API of the Keystone operator: the kinds Keystone and
// KeystoneIdentityBackend, their defaults, their rules and the vocabulary of their conditions and
// events.
//
// +kubebuilder:object:generate=true
// +groupName=keystone.openstack.c5c3.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	// GroupVersion is the API group and version of this package's kinds.
	GroupVersion = schema.GroupVersion{Group: "keystone.openstack.c5c3.io", Version: "v1alpha1"}

	// SchemeBuilder collects what AddToScheme registers.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme registers this package's kinds with a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &Keystone{}, &KeystoneList{}, &KeystoneIdentityBackend{}, &KeystoneIdentityBackendList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
