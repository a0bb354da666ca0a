package mariadb

import (
	"cmp"
	"context"
	"fmt"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Server is the kind of the server that holds the database.
var Server = mariadbv1alpha1.GroupVersion.WithKind("MariaDB")

// Serves reports whether the MariaDB is serving. Database, User and Grant keep Ready=True
// for a while after their MariaDB is gone, so their conditions alone are not reliable.
func Serves(server *mariadbv1alpha1.MariaDB) bool {
	return server.DeletionTimestamp.IsZero() && isReady(server.Status.Conditions)
}

// Named returns a MariaDB of which nothing but its name is known.
func Named(name string) *mariadbv1alpha1.MariaDB {
	return &mariadbv1alpha1.MariaDB{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// Replicates reports whether the servers are one that takes writes and replicas of it, which
// take none. The main Service of such a MariaDB leads to all of them. Each server of a
// Galera cluster takes writes.
func Replicates(server *mariadbv1alpha1.MariaDB) bool {
	return server.Spec.Replication != nil && server.Spec.Replication.Enabled
}

// TLS returns how clients reach a MariaDB that requires TLS: with the authorities and the
// client certificate that mariadb-operator keeps for them. A certificate that the operator
// issues is for the Services of the MariaDB; nobody knows what one of the user is for.
func TLS(server *mariadbv1alpha1.MariaDB) *commonv1.DatabaseTLSSpec {
	mode := commonv1.DatabaseTLSVerifyFull
	if server.Spec.TLS != nil && server.Spec.TLS.ServerCertSecretRef != nil {
		mode = commonv1.DatabaseTLSVerifyCA
	}
	bundle := server.TLSCABundleSecretKeyRef()
	return &commonv1.DatabaseTLSSpec{
		Enabled: true, Mode: mode, CABundleSecretRef: &commonv1.SecretRefSpec{Name: bundle.Name, Key: bundle.Key},
		ClientCertSecretRef: &commonv1.SecretRefSpec{Name: server.TLSClientCertSecretKey().Name},
	}
}

// DatabaseKind is the kind of the objects that stand for a database.
var DatabaseKind = mariadbv1alpha1.GroupVersion.WithKind("Database")

// IdentityOf identifies the database that an object stands for.
func IdentityOf(d *mariadbv1alpha1.Database, in cluster.Settings) commonv1.DatabaseIdentity {
	server := &corev1.LocalObjectReference{Name: d.Spec.MariaDBRef.Name}
	return commonv1.DatabaseSpec{ClusterRef: server, Database: cmp.Or(d.Spec.Name, d.Name)}.
		Identity(in, cmp.Or(d.Spec.MariaDBRef.Namespace, d.Namespace))
}

// Ending returns an object that stands for the database of the pass and is being deleted,
// so that mariadb-operator is going to drop the database, nil if there is none.
func Ending(ctx context.Context, p *service.Pass) (*mariadbv1alpha1.Database, error) {
	if !p.Kinds.Served(DatabaseKind) {
		return nil, nil
	}
	list := &mariadbv1alpha1.DatabaseList{}
	if err := p.ThirdParty.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the Databases: %w", err)
	}
	for i := range list.Items {
		found := &list.Items[i]
		stays := ptr.Deref(found.Spec.CleanupPolicy, "") == mariadbv1alpha1.CleanupPolicySkip
		if !found.DeletionTimestamp.IsZero() && !stays && IdentityOf(found, p.Cluster).Same(p.DatabaseIdentity()) {
			return found, nil
		}
	}
	return nil, nil
}

// EnsureDatabase applies the Database, returns it, and reports whether mariadb-operator
// has created it. One that is being deleted keeps Ready=True. If keep is set, the database
// stays when its object is deleted, whatever the spec says.
func EnsureDatabase(ctx context.Context, p *service.Pass, keep bool) (database *mariadbv1alpha1.Database, created bool, err error) {
	database = Database(p)
	if keep {
		database.Spec.CleanupPolicy = ptr.To(mariadbv1alpha1.CleanupPolicySkip)
	}
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
