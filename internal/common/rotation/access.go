package rotation

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Access is the account of a rotation Job with its only permissions: read the
// Secret that it replaces and write the staging Secret.
type Access struct {
	// Name is the name of the ServiceAccount, the Role and the RoleBinding.
	Name      string
	Namespace string
	Labels    map[string]string
	// Annotations are set on the ServiceAccount; they may be nil.
	Annotations map[string]string
	// Source is the Secret in use; the Job may only read it.
	Source string
	// Staging is the Secret that the Job may read and patch.
	Staging string
}

// Objects returns the ServiceAccount, the Role and the RoleBinding.
func (a Access) Objects() []client.Object {
	meta := func() metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: a.Name, Namespace: a.Namespace, Labels: a.Labels}
	}
	rule := func(secret string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{
			APIGroups: []string{corev1.GroupName}, Resources: []string{"secrets"}, ResourceNames: []string{secret}, Verbs: verbs,
		}
	}
	account := meta()
	account.Annotations = a.Annotations
	return []client.Object{
		// Pods request the token explicitly; nothing else that uses the account needs one.
		&corev1.ServiceAccount{ObjectMeta: account, AutomountServiceAccountToken: ptr.To(false)},
		&rbacv1.Role{ObjectMeta: meta(), Rules: []rbacv1.PolicyRule{rule(a.Source, "get"), rule(a.Staging, "get", "patch")}},
		&rbacv1.RoleBinding{
			ObjectMeta: meta(),
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: a.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: a.Name, Namespace: a.Namespace}},
		},
	}
}
