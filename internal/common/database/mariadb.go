package database

import (
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/service"
)

// connectionsPerPod is a generous bound on the connections that one API pod, plus the
// Jobs running beside it, opens at once. mariadb-operator's default, 10 for the whole
// user, is exhausted by a few workers.
const connectionsPerPod = 50

func mariaRef(p *service.Pass) mariadbv1alpha1.MariaDBRef {
	return mariadbv1alpha1.MariaDBRef{
		ObjectReference: mariadbv1alpha1.ObjectReference{Name: p.Spec.Database.ClusterRef.Name},
		WaitForIt:       true,
	}
}

// mariaCleanup tells mariadb-operator which objects in the MariaDB outlive the resource.
// It must be set from the start: with foreground deletion the garbage collector deletes
// these objects before any finalizer could set it.
func mariaCleanup(p *service.Pass) mariadbv1alpha1.SQLTemplate {
	if !p.Spec.KeepsData() {
		return mariadbv1alpha1.SQLTemplate{}
	}
	return mariadbv1alpha1.SQLTemplate{CleanupPolicy: ptr.To(mariadbv1alpha1.CleanupPolicySkip)}
}

// MariaDatabase builds the Database of the instance.
func MariaDatabase(p *service.Pass) *mariadbv1alpha1.Database {
	return &mariadbv1alpha1.Database{
		ObjectMeta: p.Meta(p.Resource.GetName()),
		Spec: mariadbv1alpha1.DatabaseSpec{
			SQLTemplate: mariaCleanup(p), MariaDBRef: mariaRef(p), CharacterSet: "utf8", Collate: "utf8_general_ci", Name: p.Spec.Database.Database,
		},
	}
}

// MariaUser builds a user with the password that the spec refers to or, if pinned, with
// the one that pods still use.
func MariaUser(p *service.Pass, name string, pinned bool) *mariadbv1alpha1.User {
	secret, key := p.Spec.Database.SecretRef.Name, passwordKey(p.Spec.Database.SecretRef)
	if pinned {
		secret, key = loginsSecret(p), name
	}
	return &mariadbv1alpha1.User{
		ObjectMeta: p.Meta(name),
		Spec: mariadbv1alpha1.UserSpec{
			SQLTemplate: mariaCleanup(p), MariaDBRef: mariaRef(p),
			PasswordSecretKeyRef: &mariadbv1alpha1.SecretKeySelector{
				LocalObjectReference: mariadbv1alpha1.LocalObjectReference{Name: secret}, Key: key,
			},
			MaxUserConnections: maxUserConnections(p),
		},
	}
}

// maxUserConnections leaves room for a rolling update, during which old and new pods run
// side by side.
func maxUserConnections(p *service.Pass) int32 {
	pods := p.Spec.Replicas
	if autoscaling := p.Spec.Autoscaling; autoscaling != nil {
		pods = max(pods, autoscaling.MaxReplicas)
	}
	return 2 * connectionsPerPod * pods
}

// MariaGrant builds the Grant of all privileges on the database.
func MariaGrant(p *service.Pass, user string) *mariadbv1alpha1.Grant {
	return &mariadbv1alpha1.Grant{
		ObjectMeta: p.Meta(user),
		Spec: mariadbv1alpha1.GrantSpec{
			SQLTemplate: mariaCleanup(p), MariaDBRef: mariaRef(p), Privileges: []string{"ALL PRIVILEGES"},
			Database: p.Spec.Database.Database, Table: "*", Username: user,
		},
	}
}

// databaseReferences returns the objects that the finalizer removes from the MariaDB.
func databaseReferences(p *service.Pass) []referenced {
	standby := p.Resource.GetName() + standbySuffix
	return []referenced{
		{"Grant", &mariadbv1alpha1.Grant{ObjectMeta: p.Meta(standby)}},
		{"User", &mariadbv1alpha1.User{ObjectMeta: p.Meta(standby)}},
		{"Grant", &mariadbv1alpha1.Grant{ObjectMeta: p.Meta(p.Resource.GetName())}},
		{"User", &mariadbv1alpha1.User{ObjectMeta: p.Meta(p.Resource.GetName())}},
		{"Database", &mariadbv1alpha1.Database{ObjectMeta: p.Meta(p.Resource.GetName())}},
	}
}
