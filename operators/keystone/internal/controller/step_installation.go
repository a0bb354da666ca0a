package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// unreadableCredentials is the exit code of credential_keys.py for a database
// with credentials that none of the keys can read.
const unreadableCredentials int32 = 78

// annotationCredentialKeys on the pods of the first db_sync changes with the keys
// that they compare the database with.
const annotationCredentialKeys = "forge.c5c3.io/credential-keys-hash"

// reconcileInstallation installs the schema in a database that may be somebody's
// already, before there are keys: credentials that are stored there need theirs.
// What else may be due is up to the Database step.
func reconcileInstallation(ctx context.Context, s *scope) reconcile.Outcome {
	first, err := s.installsFirst(ctx)
	switch {
	case err != nil:
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	case !first:
		return reconcile.Done(keystonev1alpha1.ReasonDatabaseSynced, "")
	}
	outcome := s.install(ctx)
	if outcome.IsDone() {
		return outcome
	}
	return s.recordDatabaseJobs(ctx, func(context.Context) reconcile.Outcome { return outcome })
}

// installsFirst reports whether the schema is to be installed and nothing tells
// of an earlier installation.
func (s *scope) installsFirst(ctx context.Context) (bool, error) {
	k := s.keystone
	if k.Status.InstalledRelease != "" || k.Status.ExpandedRelease != "" {
		return false, nil
	}
	contracted, err := s.contractedRelease(ctx)
	if err == nil {
		err = s.recoverInstalledRelease(ctx)
	}
	if err != nil || contracted != "" || k.Status.InstalledRelease != "" {
		return false, err
	}
	plan, _ := planSchema(k, contracted)
	return plan == schemaSync, nil
}

func (s *scope) install(ctx context.Context) reconcile.Outcome {
	if s.keystone.Spec.Database.IsManaged() {
		if outcome := s.ensureManagedDatabase(ctx); !outcome.IsDone() {
			return outcome
		}
	}
	found, err := s.mountedCredentialKeys(ctx)
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonDBSyncFailed, err)
	}
	s.credentialKeys = found
	outcome := s.runDatabaseTask(ctx, dbSync(s), dbSyncReasons)
	s.installed = outcome.IsDone()
	var failed *job.FailedError
	if errors.As(outcome.Err(), &failed) && failed.ExitCode == unreadableCredentials {
		s.installed, s.unreadable = true, failed
	}
	return outcome
}

// mountedCredentialKeys returns the Secret that a Job mounts by its name, also one that
// is not claimed yet, nil for none.
func (s *scope) mountedCredentialKeys(ctx context.Context) (*corev1.Secret, error) {
	key := s.Key(credentialKeysName(s.keystone))
	if found, err := s.Owned.Find(ctx, key); err != nil || found != nil {
		return found, err
	}
	found := &corev1.Secret{}
	switch err := s.Refs.Get(ctx, key, found); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading Secret %s: %w", key.Name, err)
	}
	return found, nil
}

var dbSyncReasons = taskReasons{
	running: keystonev1alpha1.ReasonDBSyncInProgress, failed: keystonev1alpha1.ReasonDBSyncFailed,
	activity: "installing the database schema",
}

// dbSync installs the schema. The first time it refuses a database with
// credentials that need other keys than there are, and is tried again when there
// are others.
func dbSync(s *scope) deployment.Task {
	command := manage("db_sync")
	sync := databaseTask(s, taskSync, 4, command)
	sync.RunKey = onRequest(s.keystone, sync.RunKey)
	if s.keystone.Status.InstalledRelease != "" {
		return sync
	}
	sync.Command = []string{"/bin/sh", "-eu", "-c", fmt.Sprintf(
		"python3 %s%s %s\nexec keystone-manage --config-dir=%s db_sync", configDir, credentialKeysFile, credentialKeysDir, configDir)}
	keys := deployment.SecretMount(volumeCredentialKeys, credentialKeysName(s.keystone), credentialKeysDir+"/")
	keys.Volume.Secret.Optional = ptr.To(true)
	sync.Mounts = append(slices.Clone(sync.Mounts), keys)
	if s.credentialKeys != nil {
		sync.Annotations[annotationCredentialKeys] = secrets.ContentHash(s.credentialKeys)
	}
	sync.Failure = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			ContainerName: ptr.To(taskSync), Operator: batchv1.PodFailurePolicyOnExitCodesOpIn, Values: []int32{unreadableCredentials},
		},
	}}}
	return sync
}
