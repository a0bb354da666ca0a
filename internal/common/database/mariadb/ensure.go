package mariadb

import (
	"context"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/service"
)

// Server is the kind of the server that holds the database.
var Server = mariadbv1alpha1.GroupVersion.WithKind("MariaDB")

// Serves reports whether the MariaDB is serving. Database, User and Grant keep Ready=True
// for a while after their MariaDB is gone, so their conditions alone are not reliable.
func Serves(server *mariadbv1alpha1.MariaDB) bool {
	return server.DeletionTimestamp.IsZero() && isReady(server.Status.Conditions)
}

// EnsureDatabase applies the Database, returns it, and reports whether mariadb-operator
// has created it. One that is being deleted keeps Ready=True.
func EnsureDatabase(ctx context.Context, p *service.Pass) (database *mariadbv1alpha1.Database, created bool, err error) {
	database = Database(p)
	if err := ensure(ctx, p, database); err != nil {
		return nil, false, err
	}
	return database, isReady(database.Status.Conditions), nil
}

// EnsureUser applies a [User] and then its Grant, and reports whether both exist in the
// database. If the User cannot be written, the Grant is not attempted.
func EnsureUser(ctx context.Context, p *service.Pass, name, pinned string) (bool, error) {
	user, grant := User(p, name, pinned), Grant(p, name)
	if err := ensure(ctx, p, user); err != nil {
		return false, err
	}
	err := ensure(ctx, p, grant)
	return err == nil && isReady(user.Status.Conditions) && isReady(grant.Status.Conditions), err
}

func ensure(ctx context.Context, p *service.Pass, desired client.Object) error {
	return apply.EnsureObject(ctx, p.ThirdParty, p.Scheme, p.Resource, desired, apply.FieldManager)
}

func isReady(conditions []metav1.Condition) bool {
	return meta.IsStatusConditionTrue(conditions, mariadbv1alpha1.ConditionTypeReady)
}
