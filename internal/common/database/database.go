// Package database keeps mariadb-operator's Database, User and Grant as
// declared.
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

// EnsureDatabase makes the Database carry the declared fields and reports
// whether mariadb-operator has created it.
func EnsureDatabase(
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, db *mariadbv1alpha1.Database,
) (bool, error) {
	if err := apply.EnsureObject(ctx, c, scheme, owner, db, apply.FieldManager); err != nil {
		return false, err
	}
	return isReady(db.Status.Conditions), nil
}

// EnsureDatabaseUser makes the User and then its Grant carry the declared
// fields and reports whether both exist in the database. When the User cannot
// be written the Grant is not attempted.
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

// IsClusterReady reports whether the MariaDB serves. Database, User and Grant
// keep Ready=True for a while after their MariaDB has gone, so they must not be
// trusted alone.
func IsClusterReady(cluster *mariadbv1alpha1.MariaDB) bool {
	return cluster.DeletionTimestamp.IsZero() && isReady(cluster.Status.Conditions)
}

func isReady(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, mariadbv1alpha1.ConditionTypeReady)
}
