package korc

import (
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/utils/ptr"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// NameRef refers to an object in the same namespace.
func NameRef(name string) *orcv1alpha1.KubernetesNameRef {
	return ptr.To(orcv1alpha1.KubernetesNameRef(name))
}

// UserCloud returns the cloud for users of the control plane.
func UserCloud(cp *c5c3v1alpha1.ControlPlane) orcv1alpha1.CloudCredentialsReference {
	ref := cp.Spec.KORC.AdminCredential.CloudCredentialsRef
	return orcv1alpha1.CloudCredentialsReference{SecretName: ref.SecretName, CloudName: ref.CloudName}
}

// AdminCloud returns a cloud that does not depend on the application credential. What is
// created with it can be removed after the credential, and even if the credential's
// access rules do not allow that.
func AdminCloud(cp *c5c3v1alpha1.ControlPlane) orcv1alpha1.CloudCredentialsReference {
	return orcv1alpha1.CloudCredentialsReference{
		SecretName: cp.PasswordCloudSecretName(), CloudName: cp.Spec.KORC.AdminCredential.CloudCredentialsRef.CloudName,
	}
}

// AdminSystemCloud returns the cloud for what requires a system administrator.
func AdminSystemCloud(cp *c5c3v1alpha1.ControlPlane) orcv1alpha1.CloudCredentialsReference {
	return orcv1alpha1.CloudCredentialsReference{SecretName: cp.PasswordCloudSecretName(), CloudName: clouds.System(cp)}
}

// removalCloud returns the cloud with which K-ORC removes the object. It needs no
// application credential.
func removalCloud(cp *c5c3v1alpha1.ControlPlane, obj Object) orcv1alpha1.CloudCredentialsReference {
	switch obj := obj.(type) {
	case *orcv1alpha1.Project, *orcv1alpha1.Role:
		return AdminSystemCloud(cp)
	case *orcv1alpha1.User:
		if isServiceUser(obj) {
			return AdminSystemCloud(cp)
		}
	}
	return AdminCloud(cp)
}

// CatalogService builds the entry of a service in the catalog.
func CatalogService(cp *c5c3v1alpha1.ControlPlane, name, catalogType string) *orcv1alpha1.Service {
	return &orcv1alpha1.Service{
		ObjectMeta: controlplane.ChildMeta(cp, cp.CatalogServiceName(catalogType)),
		Spec: orcv1alpha1.ServiceSpec{
			CloudCredentialsRef: AdminCloud(cp), ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, ManagedOptions: Detached(),
			Resource: &orcv1alpha1.ServiceResourceSpec{
				Name: ptr.To(orcv1alpha1.OpenStackName(name)), Type: catalogType, Enabled: ptr.To(true),
			},
		},
	}
}

// IdentityService builds Keystone's own entry in the catalog.
func IdentityService(cp *c5c3v1alpha1.ControlPlane) *orcv1alpha1.Service {
	return CatalogService(cp, "keystone", "identity")
}

// Detached keeps the resource in OpenStack when its object is deleted: it may have
// existed before, and others may depend on it.
func Detached() *orcv1alpha1.ManagedOptions {
	return &orcv1alpha1.ManagedOptions{OnDelete: orcv1alpha1.OnDeleteDetach}
}

// isServiceCredential distinguishes the credential of a service's user from those of the
// administrator. It leaves Keystone with its user.
func isServiceCredential(credential *orcv1alpha1.ApplicationCredential) bool {
	_, found := credential.Labels[c5c3v1alpha1.LabelServiceUser]
	return found
}

// isServiceUser distinguishes the user of a service from the import of the administrator.
func isServiceUser(user *orcv1alpha1.User) bool {
	return user.Spec.ManagementPolicy == orcv1alpha1.ManagementPolicyManaged
}
