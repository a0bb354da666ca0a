// Package database manages the database of a service instance: mariadb-operator's
// Database, User and Grant, the connection of the pods, and its TLS certificates.
package database

import (
	"context"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

// EnsureDatabase applies the Database and reports whether mariadb-operator has created
// it.
func EnsureDatabase(
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, db *mariadbv1alpha1.Database,
) (bool, error) {
	if err := apply.EnsureObject(ctx, c, scheme, owner, db, apply.FieldManager); err != nil {
		return false, err
	}
	return isReady(db.Status.Conditions), nil
}

// EnsureDatabaseUser applies the User and then its Grant, and reports whether both exist
// in the database. If the User cannot be written, the Grant is not attempted.
func EnsureDatabaseUser(
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object,
	user *mariadbv1alpha1.User, grant *mariadbv1alpha1.Grant,
) (bool, error) {
	if err := apply.EnsureObject(ctx, c, scheme, owner, user, apply.FieldManager); err != nil {
		return false, err
	}
	if err := apply.EnsureObject(ctx, c, scheme, owner, grant, apply.FieldManager); err != nil {
		return false, err
	}
	return isReady(user.Status.Conditions) && isReady(grant.Status.Conditions), nil
}

// IsClusterReady reports whether the MariaDB is serving. Database, User and Grant keep
// Ready=True for a while after their MariaDB is gone, so their conditions alone are not
// reliable.
func IsClusterReady(cluster *mariadbv1alpha1.MariaDB) bool {
	return cluster.DeletionTimestamp.IsZero() && isReady(cluster.Status.Conditions)
}

func isReady(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, mariadbv1alpha1.ConditionTypeReady)
}
