package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/keys"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

const credentialMigrate = "credential-migrate"

func credentialMigrateName(k *keystonev1alpha1.Keystone) string {
	return k.Name + "-" + credentialMigrate
}

// migrateCredentials encrypts all credentials with the primary key after a rotation. It
// waits until every pod has the key: until then, a pod may still encrypt with the
// previous key, which the next rotation removes.
func migrateCredentials(ctx context.Context, s *scope, done reconcile.Outcome) reconcile.Outcome {
	secret, err := s.Owned.Find(ctx, s.Key(credentialKeysName(s.keystone)))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	if secret == nil {
		return done // The CredentialKeys step reports it.
	}
	history := keys.ParseHistory(secret.Annotations[annotationKeyHistory])
	if !history.Rotated() || history.Primary(secret.Data).Migrated {
		return done
	}
	if wait := history.PropagatedAt(secret.Data, s.propagation).Sub(s.Now()); wait > 0 {
		return done.After(min(wait, longestHoldTimer))
	}
	built, err := migrateJob(s, secret.Data)
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	state, err := s.Runner().Run(ctx, s.keystone, built)
	if err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonCredentialMigrateFailed, fmt.Errorf(
			"encrypting the credentials with the new key failed: %w; credentials whose keys are lost have to be deleted first", err))
	}
	switch {
	case state.Waiting != "":
		return deployment.Await(
			keystonev1alpha1.ReasonCredentialMigrateFailed, built.Name, "encrypting the credentials with the new key", state, "")
	case !state.Complete:
		return done.Within(state.Again)
	}
	migrated := secret.DeepCopy()
	metav1.SetMetaDataAnnotation(&migrated.ObjectMeta, annotationKeyHistory, history.Migrated(secret.Data).String())
	if err := apply.Update(ctx, s.Client, migrated, "recording the migration of the credentials in"); err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	return done
}

// migrateJob builds the Job, which runs once for each primary key with the image that
// fits the schema.
func migrateJob(s *scope, data map[string][]byte) (*batchv1.Job, error) {
	k := s.keystone
	primary, _ := keys.PrimaryName(data)
	built, err := deployment.TaskJob(s.Pass, deployment.Task{
		Name: credentialMigrate, Container: credentialMigrate, Command: manage("credential_migrate"), Retries: 2,
		Env:    keystoneDatabase.ToolEnv(s.Pass),
		Mounts: append(append([]deployment.Mount{deployment.ConfigMount(s.Pass)}, keyMounts(k)...), database.TLSMounts(s.Pass)...),
		RunKey: keys.ID(data[primary]),
	})
	if err != nil {
		return nil, err
	}
	built.Spec.Template.Spec.Containers[0].Image = scheduledImage(k)
	return built, nil
}
