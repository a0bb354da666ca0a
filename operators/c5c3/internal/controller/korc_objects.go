package controller

import (
	"fmt"
	"strings"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// The pure builders of the K-ORC objects of a control plane.

func nameRef(name string) *orcv1alpha1.KubernetesNameRef {
	return ptr.To(orcv1alpha1.KubernetesNameRef(name))
}

// userCloud is the cloud that users of the control plane work with.
func userCloud(cp *c5c3v1alpha1.ControlPlane) orcv1alpha1.CloudCredentialsReference {
	ref := cp.Spec.KORC.AdminCredential.CloudCredentialsRef
	return orcv1alpha1.CloudCredentialsReference{SecretName: ref.SecretName, CloudName: ref.CloudName}
}

// adminCloud does not depend on the application credential, so that what it
// makes can be removed after the credential, and also when the credential's
// access rules do not allow it.
func adminCloud(cp *c5c3v1alpha1.ControlPlane) orcv1alpha1.CloudCredentialsReference {
	return orcv1alpha1.CloudCredentialsReference{
		SecretName: cp.PasswordCloudSecretName(), CloudName: cp.Spec.KORC.AdminCredential.CloudCredentialsRef.CloudName,
	}
}

// adminSystemCloud is for what needs an administrator of the system.
func adminSystemCloud(cp *c5c3v1alpha1.ControlPlane) orcv1alpha1.CloudCredentialsReference {
	return orcv1alpha1.CloudCredentialsReference{SecretName: cp.PasswordCloudSecretName(), CloudName: clouds.System(cp)}
}

// removalCloud is the cloud that K-ORC removes the object with: one that needs no
// application credential.
func removalCloud(cp *c5c3v1alpha1.ControlPlane, obj orcObject) orcv1alpha1.CloudCredentialsReference {
	switch obj := obj.(type) {
	case *orcv1alpha1.Project, *orcv1alpha1.Role:
		return adminSystemCloud(cp)
	case *orcv1alpha1.User:
		if isServiceUser(obj) {
			return adminSystemCloud(cp)
		}
	}
	return adminCloud(cp)
}

// catalogService is the entry of a service in the catalog.
func catalogService(cp *c5c3v1alpha1.ControlPlane, name, catalogType string) *orcv1alpha1.Service {
	return &orcv1alpha1.Service{
		ObjectMeta: controlplane.ChildMeta(cp, cp.CatalogServiceName(catalogType)),
		Spec: orcv1alpha1.ServiceSpec{
			CloudCredentialsRef: adminCloud(cp), ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, ManagedOptions: detached(),
			Resource: &orcv1alpha1.ServiceResourceSpec{
				Name: ptr.To(orcv1alpha1.OpenStackName(name)), Type: catalogType, Enabled: ptr.To(true),
			},
		},
	}
}

// identityService is Keystone's own entry in the catalog.
func identityService(cp *c5c3v1alpha1.ControlPlane) *orcv1alpha1.Service {
	return catalogService(cp, "keystone", "identity")
}

func domainImport(cp *c5c3v1alpha1.ControlPlane, with orcv1alpha1.CloudCredentialsReference) *orcv1alpha1.Domain {
	return &orcv1alpha1.Domain{
		ObjectMeta: controlplane.ChildMeta(cp, cp.DomainImportName()),
		Spec: orcv1alpha1.DomainSpec{
			CloudCredentialsRef: with, ManagementPolicy: orcv1alpha1.ManagementPolicyUnmanaged,
			Import: &orcv1alpha1.DomainImport{Filter: &orcv1alpha1.DomainFilter{Name: ptr.To(orcv1alpha1.KeystoneName(clouds.DefaultDomain))}},
		},
	}
}

func userImport(cp *c5c3v1alpha1.ControlPlane, with orcv1alpha1.CloudCredentialsReference) *orcv1alpha1.User {
	return &orcv1alpha1.User{
		ObjectMeta: controlplane.ChildMeta(cp, cp.UserImportName()),
		Spec: orcv1alpha1.UserSpec{
			CloudCredentialsRef: with, ManagementPolicy: orcv1alpha1.ManagementPolicyUnmanaged,
			Import: &orcv1alpha1.UserImport{Filter: &orcv1alpha1.UserFilter{
				Name: ptr.To(orcv1alpha1.OpenStackName(clouds.AdminUser)), DomainRef: nameRef(cp.DomainImportName()),
			}},
		},
	}
}

// applicationCredential is the administrator's credential with the given name in
// Keystone. K-ORC takes over a credential that has the name already, whatever
// its secret: the name has to be the secret's own.
func applicationCredential(cp *c5c3v1alpha1.ControlPlane, name string, annotations map[string]string) *orcv1alpha1.ApplicationCredential {
	policy := cp.Spec.KORC.AdminCredential.ApplicationCredential
	meta := controlplane.ChildMeta(cp, cp.ApplicationCredentialName())
	meta.Annotations = annotations
	return &orcv1alpha1.ApplicationCredential{
		ObjectMeta: meta,
		Spec: orcv1alpha1.ApplicationCredentialSpec{
			CloudCredentialsRef: adminCloud(cp), ManagementPolicy: orcv1alpha1.ManagementPolicyManaged,
			Resource: &orcv1alpha1.ApplicationCredentialResourceSpec{
				Name:         ptr.To(orcv1alpha1.OpenStackName(name)),
				UserRef:      *nameRef(cp.UserImportName()),
				SecretRef:    *nameRef(cp.ApplicationCredentialName()),
				Unrestricted: ptr.To(!ptr.Deref(policy.Restricted, c5c3v1alpha1.DefaultRestricted)),
				AccessRules:  accessRules(policy.AccessRules),
			},
		},
	}
}

func accessRules(rules []c5c3v1alpha1.AccessRule) []orcv1alpha1.ApplicationCredentialAccessRule {
	if len(rules) == 0 {
		return nil
	}
	converted := make([]orcv1alpha1.ApplicationCredentialAccessRule, 0, len(rules))
	for _, rule := range rules {
		entry := orcv1alpha1.ApplicationCredentialAccessRule{ServiceRef: nameRef(rule.Service)}
		if rule.Path != "" {
			entry.Path = ptr.To(rule.Path)
		}
		if rule.Method != "" {
			entry.Method = ptr.To(orcv1alpha1.HTTPMethod(rule.Method))
		}
		converted = append(converted, entry)
	}
	return converted
}

// supersededCredential takes a credential over in Keystone that is about to be
// replaced: by its name there, so that the object it had can become its
// successor. It names a Secret without the key that K-ORC makes credentials
// from: should the credential be gone, none is made.
func supersededCredential(cp *c5c3v1alpha1.ControlPlane, old *orcv1alpha1.ApplicationCredential) *orcv1alpha1.ApplicationCredential {
	resource := old.Spec.Resource.DeepCopy()
	resource.Name = ptr.To(orcv1alpha1.OpenStackName(keystoneName(old)))
	resource.SecretRef = *nameRef(cp.PasswordCloudSecretName())
	meta := controlplane.ChildMeta(cp, fmt.Sprintf("%s-%s", cp.ApplicationCredentialName(), shortHash(keystoneName(old))))
	meta.Labels[c5c3v1alpha1.LabelSuperseded] = "true"
	if overlap := old.Annotations[c5c3v1alpha1.AnnotationCredentialOverlap]; overlap != "" {
		meta.Annotations = map[string]string{c5c3v1alpha1.AnnotationCredentialOverlap: overlap}
	}
	return &orcv1alpha1.ApplicationCredential{
		ObjectMeta: meta,
		Spec: orcv1alpha1.ApplicationCredentialSpec{
			CloudCredentialsRef: adminCloud(cp), ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, Resource: resource,
		},
	}
}

// keystoneName is the name a credential has in Keystone.
func keystoneName(credential *orcv1alpha1.ApplicationCredential) string {
	if credential.Spec.Resource == nil || credential.Spec.Resource.Name == nil {
		return credential.Name
	}
	return string(*credential.Spec.Resource.Name)
}

// credentialName is the name in Keystone of the credential with the secret.
func credentialName(cp *c5c3v1alpha1.ControlPlane, secret string) string {
	return fmt.Sprintf("%s-%s", cp.ApplicationCredentialName(), shortHash(secret))
}

func shortHash(text string) string { return controlplane.Hash(text)[:8] }

// labelBootstrap is on the objects of bootstrap resources.
const labelBootstrap = "c5c3.io/bootstrap-resource"

// bootstrapMeta derives a name that Kubernetes accepts and that no other
// resource gets.
func bootstrapMeta(cp *c5c3v1alpha1.ControlPlane, resource c5c3v1alpha1.BootstrapResourceSpec) metav1.ObjectMeta {
	kind := strings.ToLower(resource.Kind)
	meta := controlplane.ChildMeta(cp, fmt.Sprintf("%s-%s-%s", cp.Name, kind, shortHash(resource.Kind+"/"+resource.Name)))
	meta.Labels[labelBootstrap] = kind
	return meta
}

// detached leaves the resource in OpenStack when its object goes: it may have
// been there before, and others may have put things into it.
func detached() *orcv1alpha1.ManagedOptions {
	return &orcv1alpha1.ManagedOptions{OnDelete: orcv1alpha1.OnDeleteDetach}
}

func bootstrapResource(cp *c5c3v1alpha1.ControlPlane, resource c5c3v1alpha1.BootstrapResourceSpec) orcObject {
	with := adminSystemCloud(cp)
	name := ptr.To(orcv1alpha1.KeystoneName(resource.Name))
	if resource.Kind == c5c3v1alpha1.BootstrapKindRole {
		return &orcv1alpha1.Role{ObjectMeta: bootstrapMeta(cp, resource), Spec: orcv1alpha1.RoleSpec{
			CloudCredentialsRef: with, ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, ManagedOptions: detached(),
			Resource: &orcv1alpha1.RoleResourceSpec{Name: name},
		}}
	}
	return &orcv1alpha1.Project{ObjectMeta: bootstrapMeta(cp, resource), Spec: orcv1alpha1.ProjectSpec{
		CloudCredentialsRef: with, ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, ManagedOptions: detached(),
		Resource: &orcv1alpha1.ProjectResourceSpec{Name: name, DomainRef: nameRef(cp.DomainImportName())},
	}}
}
