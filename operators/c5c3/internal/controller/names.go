package controller

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// managedBy is the value of app.kubernetes.io/managed-by on everything the
// operator creates; its Secret cache selects by it.
const managedBy = "c5c3-operator"

// commonLabels are on every object of a control plane.
func commonLabels(cp *c5c3v1alpha1.ControlPlane) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name": "controlplane", "app.kubernetes.io/instance": cp.Name, "app.kubernetes.io/managed-by": managedBy,
	}
}

func childMeta(cp *c5c3v1alpha1.ControlPlane, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: cp.Namespace, Labels: commonLabels(cp)}
}

// managesCredentials reports whether the operator provides the credentials of the
// database and of the administrator itself.
func managesCredentials(cp *c5c3v1alpha1.ControlPlane) bool {
	return cp.Spec.Infrastructure.Database.IsManaged()
}

// databaseSecretRef is where Keystone finds its database's credentials.
func databaseSecretRef(cp *c5c3v1alpha1.ControlPlane) commonv1.SecretRefSpec {
	if managesCredentials(cp) {
		return commonv1.SecretRefSpec{Name: cp.DatabaseSecretName(), Key: commonv1.DatabasePasswordKey}
	}
	return cp.Spec.Infrastructure.Database.SecretRef
}

// adminSecretRef is where Keystone and K-ORC find the administrator's password.
func adminSecretRef(cp *c5c3v1alpha1.ControlPlane) commonv1.SecretRefSpec {
	if managesCredentials(cp) {
		return commonv1.SecretRefSpec{Name: cp.AdminSecretName(), Key: c5c3v1alpha1.DefaultAdminPasswordKey}
	}
	return cp.Spec.KORC.AdminCredential.PasswordSecretRef
}
