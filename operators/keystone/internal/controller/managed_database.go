package controller

import (
	"context"
	"fmt"
	"slices"

	mariadbv1alpha1 "github.com/mariadb-operator/mariadb-operator/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/redact"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

var mariaDBGVK = mariadbv1alpha1.GroupVersion.WithKind("MariaDB")

// ensureManagedDatabase asks mariadb-operator for the database, its user and
// the user's rights.
func (s *scope) ensureManagedDatabase(ctx context.Context) reconcile.Outcome {
	if !s.Kinds.Served(mariaDBGVK) {
		return reconcile.Waiting(keystonev1alpha1.ReasonMariaDBNotInstalled,
			"spec.database.clusterRef needs mariadb-operator, which is not installed; install it, or use spec.database.host")
	}
	clusterName := s.keystone.Spec.Database.ClusterRef.Name
	cluster := &mariadbv1alpha1.MariaDB{}
	err := s.ThirdParty.Get(ctx, s.Key(clusterName), cluster)
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
	created, err := database.EnsureDatabase(ctx, s.ThirdParty, s.Scheme, s.keystone, mariaDatabase(s.keystone))
	if err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonWaitingForDatabase, err)
	}
	granted, err := s.ensureDatabaseUsers(ctx)
	if err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonWaitingForDatabase, err)
	}
	if !created || !granted {
		return reconcile.Waiting(keystonev1alpha1.ReasonWaitingForDatabase, fmt.Sprintf(
			"mariadb-operator is creating Database, User and Grant %s; if this persists, look at their conditions", s.keystone.Name))
	}
	return reconcile.Done(keystonev1alpha1.ReasonDatabaseSynced, "")
}

// planManagedLogins looks up what planLogins has to know.
func (s *scope) planManagedLogins(ctx context.Context, wanted, current login, hash string) (loginPlan, error) {
	pods, err := deployment.APIPods(ctx, s.Pass)
	if err != nil {
		return loginPlan{}, err
	}
	settled := !slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
		return pod.Annotations[annotationConnectionHash] != hash
	})
	remembered, err := s.Owned.Find(ctx, s.Key(loginsSecretName(s.keystone)))
	if err != nil || remembered == nil {
		return planLogins(wanted, current, nil, settled), err
	}
	return planLogins(wanted, current, remembered.Data, settled), nil
}

// recallConnection makes up the lost connection of the pods, given its hash, from
// the passwords that a change under way remembers. It returns "" when there is
// none among them.
func (s *scope) recallConnection(ctx context.Context, hash string) (string, error) {
	remembered, err := s.Owned.Find(ctx, s.Key(loginsSecretName(s.keystone)))
	if remembered == nil || err != nil {
		return "", err
	}
	for user, password := range remembered.Data {
		if url := connectionURL(s.keystone, login{user, password}); s.connection.isHash(hash, url) {
			return url, nil
		}
	}
	return "", nil
}

// ensureDatabaseUsers keeps the user of the pods and, while its password
// changes, the one that stands in for it. mariadb-operator reads a user's
// password every half a minute; before it may see a new one, the passwords that
// pods still use are copied and the user refers to the copy.
func (s *scope) ensureDatabaseUsers(ctx context.Context) (bool, error) {
	k := s.keystone
	wanted := login{s.credentials.databaseUser, s.credentials.databasePassword}
	remembered := &corev1.Secret{
		ObjectMeta: mariaMeta(k, loginsSecretName(k)), Type: corev1.SecretTypeOpaque, Data: s.logins.known,
	}
	changing := s.logins.changing(wanted)
	if changing {
		if err := s.Owned.EnsureData(ctx, k, remembered); err != nil {
			return false, err
		}
	}
	granted, err := s.ensureDatabaseUser(ctx, wanted.user, wanted.password)
	if err != nil {
		return false, err
	}
	standby := wanted.user + standbySuffix
	if s.logins.uses(standby) {
		ready, err := s.ensureDatabaseUser(ctx, standby, wanted.password)
		return granted && ready, err
	}
	for _, unused := range []client.Object{
		&mariadbv1alpha1.Grant{ObjectMeta: mariaMeta(k, standby)}, &mariadbv1alpha1.User{ObjectMeta: mariaMeta(k, standby)},
	} {
		if err := apply.EnsureAbsent(ctx, s.ThirdParty, k, unused); err != nil {
			return false, err
		}
	}
	if changing {
		return granted, nil
	}
	return granted, apply.EnsureAbsent(ctx, s.Client, k, remembered)
}

func (s *scope) ensureDatabaseUser(ctx context.Context, name string, wanted redact.Bytes) (bool, error) {
	return database.EnsureDatabaseUser(ctx, s.ThirdParty, s.Scheme, s.keystone,
		mariaUser(s.keystone, name, s.logins.pinned(name, wanted)), mariaGrant(s.keystone, name))
}
