package controller

import (
	"context"
	"fmt"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

var mariaDBGVK = mariadbv1alpha1.GroupVersion.WithKind("MariaDB")

// ensureManagedDatabase asks mariadb-operator for the database, its user and
// the user's rights.
func (s *scope) ensureManagedDatabase(ctx context.Context) reconcile.Outcome {
	if !s.kinds.Served(mariaDBGVK) {
		return reconcile.Waiting(keystonev1alpha1.ReasonMariaDBNotInstalled,
			"spec.database.clusterRef needs mariadb-operator, which is not installed; install it, or use spec.database.host")
	}
	clusterName := s.keystone.Spec.Database.ClusterRef.Name
	cluster := &mariadbv1alpha1.MariaDB{}
	err := s.foreign.Get(ctx, s.key(clusterName), cluster)
	switch {
	case apierrors.IsNotFound(err):
		return reconcile.Waiting(keystonev1alpha1.ReasonClusterNotReady, fmt.Sprintf(
			"MariaDB %s of spec.database.clusterRef does not exist; create it", clusterName))
	case err != nil:
		return reconcile.Failed(keystonev1alpha1.ReasonClusterNotReady, fmt.Errorf("reading MariaDB %s: %w", clusterName, err))
	case !database.IsClusterReady(cluster):
		return reconcile.Waiting(keystonev1alpha1.ReasonClusterNotReady, fmt.Sprintf(
			"MariaDB %s is not ready; look at its conditions", clusterName))
	}
	created, err := database.EnsureDatabase(ctx, s.foreign, s.scheme, s.keystone, mariaDatabase(s.keystone))
	if err != nil {
		return writeError(keystonev1alpha1.ReasonWaitingForDatabase, err)
	}
	granted, err := database.EnsureDatabaseUser(ctx, s.foreign, s.scheme, s.keystone, mariaUser(s.keystone), mariaGrant(s.keystone))
	if err != nil {
		return writeError(keystonev1alpha1.ReasonWaitingForDatabase, err)
	}
	if !created || !granted {
		return reconcile.Waiting(keystonev1alpha1.ReasonWaitingForDatabase, fmt.Sprintf(
			"mariadb-operator is creating Database, User and Grant %s; if it lasts, look at their conditions", s.keystone.Name))
	}
	return reconcile.Done(keystonev1alpha1.ReasonDatabaseSynced, "")
}
