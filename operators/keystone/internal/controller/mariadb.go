package controller

import (
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// connectionsPerPod is a generous bound on what one API pod and the Jobs
// beside it open at once. The default of mariadb-operator, 10 for the whole
// user, is used up by a few workers.
const connectionsPerPod = 50

func mariaMeta(k *keystonev1alpha1.Keystone, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: k.Namespace, Labels: commonLabels(k)}
}

func mariaRef(k *keystonev1alpha1.Keystone) mariadbv1alpha1.MariaDBRef {
	return mariadbv1alpha1.MariaDBRef{
		ObjectReference: mariadbv1alpha1.ObjectReference{Name: k.Spec.Database.ClusterRef.Name},
		WaitForIt:       true,
	}
}

// mariaCleanup has mariadb-operator leave in the MariaDB what is to outlive the
// Keystone. It has to be there from the start: in the foreground the garbage
// collector deletes these objects before any finalizer can say so.
func mariaCleanup(k *keystonev1alpha1.Keystone) mariadbv1alpha1.SQLTemplate {
	if !k.ServiceSpec().KeepsData() {
		return mariadbv1alpha1.SQLTemplate{}
	}
	return mariadbv1alpha1.SQLTemplate{CleanupPolicy: ptr.To(mariadbv1alpha1.CleanupPolicySkip)}
}

func mariaDatabase(k *keystonev1alpha1.Keystone) *mariadbv1alpha1.Database {
	return &mariadbv1alpha1.Database{
		ObjectMeta: mariaMeta(k, k.Name),
		Spec: mariadbv1alpha1.DatabaseSpec{
			SQLTemplate: mariaCleanup(k), MariaDBRef: mariaRef(k), CharacterSet: "utf8", Collate: "utf8_general_ci", Name: k.Spec.Database.Database,
		},
	}
}

// mariaUser is a user with the password that the spec refers to or, when it is
// pinned, with the one that pods still use.
func mariaUser(k *keystonev1alpha1.Keystone, name string, pinned bool) *mariadbv1alpha1.User {
	secret, key := k.Spec.Database.SecretRef.Name, passwordKey(k.Spec.Database.SecretRef)
	if pinned {
		secret, key = loginsSecretName(k), name
	}
	return &mariadbv1alpha1.User{
		ObjectMeta: mariaMeta(k, name),
		Spec: mariadbv1alpha1.UserSpec{
			SQLTemplate: mariaCleanup(k), MariaDBRef: mariaRef(k),
			PasswordSecretKeyRef: &mariadbv1alpha1.SecretKeySelector{
				LocalObjectReference: mariadbv1alpha1.LocalObjectReference{Name: secret}, Key: key,
			},
			MaxUserConnections: maxUserConnections(k),
		},
	}
}

// maxUserConnections leaves room for a rolling update, which runs old and new
// pods side by side.
func maxUserConnections(k *keystonev1alpha1.Keystone) int32 {
	pods := k.Spec.Replicas
	if autoscaling := k.Spec.Autoscaling; autoscaling != nil {
		pods = max(pods, autoscaling.MaxReplicas)
	}
	return 2 * connectionsPerPod * pods
}

func mariaGrant(k *keystonev1alpha1.Keystone, user string) *mariadbv1alpha1.Grant {
	return &mariadbv1alpha1.Grant{
		ObjectMeta: mariaMeta(k, user),
		Spec: mariadbv1alpha1.GrantSpec{
			SQLTemplate: mariaCleanup(k), MariaDBRef: mariaRef(k), Privileges: []string{"ALL PRIVILEGES"},
			Database: k.Spec.Database.Database, Table: "*", Username: user,
		},
	}
}

// databaseReferences are what the finalizer removes from the MariaDB.
func databaseReferences(k *keystonev1alpha1.Keystone) []referenced {
	standby := k.Name + standbySuffix
	return []referenced{
		{"Grant", &mariadbv1alpha1.Grant{ObjectMeta: mariaMeta(k, standby)}},
		{"User", &mariadbv1alpha1.User{ObjectMeta: mariaMeta(k, standby)}},
		{"Grant", &mariadbv1alpha1.Grant{ObjectMeta: mariaMeta(k, k.Name)}},
		{"User", &mariadbv1alpha1.User{ObjectMeta: mariaMeta(k, k.Name)}},
		{"Database", &mariadbv1alpha1.Database{ObjectMeta: mariaMeta(k, k.Name)}},
	}
}
