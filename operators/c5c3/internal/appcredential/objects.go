package appcredential

import (
	"fmt"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/utils/ptr"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
)

// DomainImport imports the administrator's domain into K-ORC.
func DomainImport(cp *c5c3v1alpha1.ControlPlane, with orcv1alpha1.CloudCredentialsReference) *orcv1alpha1.Domain {
	return &orcv1alpha1.Domain{
		ObjectMeta: controlplane.ChildMeta(cp, cp.DomainImportName()),
		Spec: orcv1alpha1.DomainSpec{
			CloudCredentialsRef: with, ManagementPolicy: orcv1alpha1.ManagementPolicyUnmanaged,
			Import: &orcv1alpha1.DomainImport{Filter: &orcv1alpha1.DomainFilter{Name: ptr.To(orcv1alpha1.KeystoneName(clouds.DefaultDomain))}},
		},
	}
}

// UserImport imports the administrator into K-ORC.
func UserImport(cp *c5c3v1alpha1.ControlPlane, with orcv1alpha1.CloudCredentialsReference) *orcv1alpha1.User {
	return &orcv1alpha1.User{
		ObjectMeta: controlplane.ChildMeta(cp, cp.UserImportName()),
		Spec: orcv1alpha1.UserSpec{
			CloudCredentialsRef: with, ManagementPolicy: orcv1alpha1.ManagementPolicyUnmanaged,
			Import: &orcv1alpha1.UserImport{Filter: &orcv1alpha1.UserFilter{
				Name: ptr.To(orcv1alpha1.OpenStackName(clouds.AdminUser)), DomainRef: korc.NameRef(cp.DomainImportName()),
			}},
		},
	}
}

// applicationCredential is the administrator's credential with the given name in
// Keystone. K-ORC adopts an existing credential with the name, whatever its secret, so
// the name must be unique to the secret.
func applicationCredential(cp *c5c3v1alpha1.ControlPlane, name string, annotations map[string]string) *orcv1alpha1.ApplicationCredential {
	policy := cp.Spec.KORC.AdminCredential.ApplicationCredential
	meta := controlplane.ChildMeta(cp, cp.ApplicationCredentialName())
	meta.Annotations = annotations
	return &orcv1alpha1.ApplicationCredential{
		ObjectMeta: meta,
		Spec: orcv1alpha1.ApplicationCredentialSpec{
			CloudCredentialsRef: korc.AdminCloud(cp), ManagementPolicy: orcv1alpha1.ManagementPolicyManaged,
			Resource: &orcv1alpha1.ApplicationCredentialResourceSpec{
				Name:         ptr.To(orcv1alpha1.OpenStackName(name)),
				UserRef:      *korc.NameRef(cp.UserImportName()),
				SecretRef:    *korc.NameRef(cp.ApplicationCredentialName()),
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
		entry := orcv1alpha1.ApplicationCredentialAccessRule{ServiceRef: korc.NameRef(rule.Service)}
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

// supersededCredential adopts, by its name in Keystone, a credential that is about to be
// replaced, so that its previous object can be used for the successor. It refers to a
// Secret without the key from which K-ORC creates credentials: if the credential is gone,
// none is created.
func supersededCredential(cp *c5c3v1alpha1.ControlPlane, old *orcv1alpha1.ApplicationCredential) *orcv1alpha1.ApplicationCredential {
	resource := old.Spec.Resource.DeepCopy()
	resource.Name = ptr.To(orcv1alpha1.OpenStackName(keystoneName(old)))
	resource.SecretRef = *korc.NameRef(cp.PasswordCloudSecretName())
	meta := controlplane.ChildMeta(cp, fmt.Sprintf("%s-%s", cp.ApplicationCredentialName(), controlplane.ShortHash(keystoneName(old))))
	meta.Labels[c5c3v1alpha1.LabelSuperseded] = "true"
	if overlap := old.Annotations[c5c3v1alpha1.AnnotationCredentialOverlap]; overlap != "" {
		meta.Annotations = map[string]string{c5c3v1alpha1.AnnotationCredentialOverlap: overlap}
	}
	return &orcv1alpha1.ApplicationCredential{
		ObjectMeta: meta,
		Spec: orcv1alpha1.ApplicationCredentialSpec{
			CloudCredentialsRef: korc.AdminCloud(cp), ManagementPolicy: orcv1alpha1.ManagementPolicyManaged, Resource: resource,
		},
	}
}

// keystoneName returns the name of a credential in Keystone.
func keystoneName(credential *orcv1alpha1.ApplicationCredential) string {
	if credential.Spec.Resource == nil || credential.Spec.Resource.Name == nil {
		return credential.Name
	}
	return string(*credential.Spec.Resource.Name)
}

// credentialName returns the name in Keystone of the credential with the secret.
func credentialName(cp *c5c3v1alpha1.ControlPlane, secret string) string {
	return fmt.Sprintf("%s-%s", cp.ApplicationCredentialName(), controlplane.ShortHash(secret))
}
