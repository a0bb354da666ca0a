// Package mariadb builds and applies the objects of mariadb-operator for the database of a
// service instance, its users and their rights.
package mariadb

import (
	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// connectionsPerPod is a generous bound on the connections that one API pod, plus the
// Jobs running beside it, opens at once. mariadb-operator's default, 10 for the whole
// user, is exhausted by a few workers.
const connectionsPerPod = 50

func serverRef(p *service.Pass) mariadbv1alpha1.MariaDBRef {
	return mariadbv1alpha1.MariaDBRef{
		ObjectReference: mariadbv1alpha1.ObjectReference{Name: p.Data.Database.ClusterRef.Name},
		WaitForIt:       true,
	}
}

// cleanup tells mariadb-operator which objects in the MariaDB outlive the resource.
// It must be set from the start: with foreground deletion the garbage collector deletes
// these objects before any finalizer could set it.
func cleanup(p *service.Pass) mariadbv1alpha1.SQLTemplate {
	if !p.Data.KeepsData() {
		return mariadbv1alpha1.SQLTemplate{}
	}
	return mariadbv1alpha1.SQLTemplate{CleanupPolicy: ptr.To(mariadbv1alpha1.CleanupPolicySkip)}
}

// Database builds the Database of the instance.
func Database(p *service.Pass) *mariadbv1alpha1.Database {
	meta := p.Meta(p.Resource.GetName())
	meta.Annotations = map[string]string{commonv1.AnnotationDatabase: p.DatabaseIdentity().String()}
	return &mariadbv1alpha1.Database{
		ObjectMeta: meta,
		Spec: mariadbv1alpha1.DatabaseSpec{
			SQLTemplate: cleanup(p), MariaDBRef: serverRef(p), CharacterSet: "utf8", Collate: "utf8_general_ci", Name: p.Data.Database.Database,
		},
	}
}

// User builds a user with the password that the spec refers to or, if pinned names a
// Secret, with the one that the Secret holds under the user's name.
func User(p *service.Pass, name, pinned string) *mariadbv1alpha1.User {
	ref := p.Data.Database.SecretRef
	secret, key := ref.Name, ref.KeyOr(commonv1.PasswordKey)
	if pinned != "" {
		secret, key = pinned, name
	}
	return &mariadbv1alpha1.User{
		ObjectMeta: p.Meta(name),
		Spec: mariadbv1alpha1.UserSpec{
			SQLTemplate: cleanup(p), MariaDBRef: serverRef(p),
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

// Grant builds the Grant of all privileges on the database.
func Grant(p *service.Pass, user string) *mariadbv1alpha1.Grant {
	return &mariadbv1alpha1.Grant{
		ObjectMeta: p.Meta(user),
		Spec: mariadbv1alpha1.GrantSpec{
			SQLTemplate: cleanup(p), MariaDBRef: serverRef(p), Privileges: []string{"ALL PRIVILEGES"},
			Database: p.Data.Database.Database, Table: "*", Username: user,
		},
	}
}
