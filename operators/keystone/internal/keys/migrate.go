package keys

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

const credentialMigrate = "credential-migrate"

func credentialMigrateName(k *keystonev1alpha1.Keystone) string {
	return k.Name + "-" + credentialMigrate
}

// migration is a migration of the credentials in progress, the zero value if there is
// none.
type migration struct {
	// job is the name of the Job, "" before it is started.
	job   string
	state job.State
	// again is the delay after which to look again, zero if a watch reports the progress.
	again time.Duration
}

// migrationError reports that the Job failed or could not be started.
type migrationError struct{ cause error }

func (e *migrationError) Error() string {
	return fmt.Sprintf("encrypting the credentials with the new key failed: %v; credentials whose keys are lost have to be deleted first",
		e.cause)
}

func (e *migrationError) Unwrap() error { return e.cause }

// migrateCredentials encrypts all credentials with the primary key after a rotation. It
// waits until every pod has the key: until then, a pod may still encrypt with the
// previous key, which the next rotation removes. The error is a migrationError if the Job
// cannot do it.
func migrateCredentials(ctx context.Context, s *pass.Scope) (migration, error) {
	secret, err := s.Owned.Find(ctx, s.Key(pass.CredentialKeysName(s.Resource)))
	if err != nil || secret == nil {
		return migration{}, err // The CredentialKeys step reports a missing one.
	}
	if keysecret.Untested(s.Pass, secret) {
		return migration{}, nil // The CredentialKeys step waits for a test of them, too.
	}
	if s.Resource.Status.UpgradePhase.IsOffline() {
		// It is done when the database has the schema of the new release.
		return migration{}, nil
	}
	history := historyOf(secret)
	if !history.Rotated() || history.Primary(secret.Data).Migrated {
		return migration{}, nil
	}
	if wait := history.PropagatedAt(secret.Data, s.Own.Propagation).Sub(s.Now()); wait > 0 {
		return migration{again: min(wait, longestHoldTimer)}, nil
	}
	built, err := MigrateJob(s, secret.Data)
	if err != nil {
		return migration{}, err
	}
	state, err := service.Runner(s.Pass).Run(ctx, s.Resource, built)
	switch {
	case err != nil:
		return migration{}, &migrationError{err}
	case !state.Complete:
		return migration{job: built.Name, state: state, again: state.Again}, nil
	}
	migrated := secret.DeepCopy()
	metav1.SetMetaDataAnnotation(&migrated.ObjectMeta, annotationKeyHistory, history.Migrated(secret.Data).String())
	if err := apply.Update(ctx, s.Client, migrated, "recording the migration of the credentials in"); err != nil {
		return migration{}, err
	}
	return migration{}, nil
}

// MigrateJob builds the Job, which runs once for each primary key with the image that
// fits the schema.
func MigrateJob(s *pass.Scope, data map[string][]byte) (*batchv1.Job, error) {
	k := s.Resource
	primary, _ := fernet.PrimaryName(data)
	return deployment.TaskJob(s.Pass, deployment.Task{
		Name: credentialMigrate, Container: credentialMigrate, Command: pass.Manage("credential_migrate"), Retries: 2,
		Image: pass.ScheduledImage(k), Env: pass.Database.ToolEnv(s.Pass),
		Mounts: append(append([]deployment.Mount{deployment.ConfigMount(s.Pass)}, Mounts(k.Name)...), database.TLSMounts(s.Pass)...),
		RunKey: fernet.ID(data[primary]),
	})
}
