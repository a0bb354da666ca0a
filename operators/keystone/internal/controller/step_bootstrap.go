package controller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// annotationAdminPasswordHash records which password the pod was started with.
const annotationAdminPasswordHash = "forge.c5c3.io/admin-password-hash" //nolint:gosec // The name of an annotation, not a password.

// reconcileBootstrap creates the administrator, the region and the identity entries of
// the catalog, and repeats that when any of them changes.
func reconcileBootstrap(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	desired, err := deployment.TaskJob(s.Pass, bootstrapTask(s))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonBootstrapFailed, err)
	}
	state, err := runBootstrap(ctx, s, desired)
	if refusesPassword(state, err) {
		pass.PasswordRefused.Put(s.Slots, true)
	}
	switch {
	case err != nil:
		return reconcile.WriteFailed(keystonev1alpha1.ReasonBootstrapFailed, err)
	case !state.Complete:
		return deployment.Await(keystonev1alpha1.ReasonBootstrapInProgress,
			desired.Name, "creating the administrator and the catalog entries", state, "")
	}
	pass.BootstrapJob.Put(s.Slots, state.Job)
	return reconcile.Done(keystonev1alpha1.ReasonBootstrapComplete, "The administrator, the region and the catalog entries exist")
}

// refusal matches Keystone's exceptions about a password that it does not accept.
var refusal = regexp.MustCompile(`\bPassword\w*ValidationError\b`)

// refusesPassword reports whether the Job failed, or fails again and again, because Keystone
// does not accept the password.
func refusesPassword(state job.State, err error) bool {
	var failed *job.FailedError
	return refusal.MatchString(state.Waiting) || errors.As(err, &failed) && refusal.MatchString(failed.Text)
}

// runBootstrap runs the Job, except that during an offline upgrade nothing but the upgrade
// may use the database: then it only looks whether the Job is complete.
func runBootstrap(ctx context.Context, s *pass.Scope, desired *batchv1.Job) (job.State, error) {
	if !s.Status.UpgradePhase.IsOffline() {
		return service.Runner(s.Pass).Run(ctx, s.Resource, desired)
	}
	live, err := s.Jobs.Find(ctx, s.Resource, desired.Name)
	if err != nil {
		return job.State{}, err
	}
	complete, err := s.Jobs.SucceededFor(ctx, live, desired)
	return job.State{Complete: complete, Waiting: "it waits for the end of the offline upgrade", Job: live}, err
}

// unlocked is an option without a value, as it is by default. To find out whether the password
// is to be set, bootstrap logs in with it, and a lock would keep it from that.
var unlocked = corev1.EnvVar{Name: "OS_SECURITY_COMPLIANCE__LOCKOUT_FAILURE_ATTEMPTS"}

// bootstrapVariable has the password. The start file knows bootstrap by it, whose logins with
// a password that Keystone refuses must not lock the administrator.
const bootstrapVariable = "OS_BOOTSTRAP_PASSWORD"

// bootstrapTask passes everything to keystone-manage in the environment variables
// documented for that (OS_BOOTSTRAP_*), so that the password never appears in a process
// list or is parsed by a shell.
func bootstrapTask(s *pass.Scope) deployment.Task {
	k := s.Resource
	boot := k.Spec.Bootstrap
	public := boot.PublicEndpoint
	if public == "" {
		public = pass.PublicEndpoint(s.Cluster, k)
	}
	passwordHash := sha256.Sum256(pass.AdminPassword.Value(s.Slots))
	hash := hex.EncodeToString(passwordHash[:])
	settings := []corev1.EnvVar{
		{Name: "OS_BOOTSTRAP_USERNAME", Value: boot.AdminUser},
		{Name: "OS_BOOTSTRAP_REGION_ID", Value: boot.Region},
		{Name: "OS_BOOTSTRAP_ADMIN_URL", Value: pass.InternalEndpoint(s.Cluster, k)},
		{Name: "OS_BOOTSTRAP_INTERNAL_URL", Value: pass.InternalEndpoint(s.Cluster, k)},
		{Name: "OS_BOOTSTRAP_PUBLIC_URL", Value: public},
	}
	return deployment.Task{
		Name: "bootstrap", Container: "bootstrap", Command: pass.Manage("bootstrap"), Retries: 4,
		Env: slices.Concat(pass.Database.ToolEnv(s.Pass), settings, []corev1.EnvVar{
			unlocked,
			deployment.SecretVariable(bootstrapVariable, boot.AdminPasswordSecretRef.Name, pass.AdminPasswordKey(k)),
		}),
		Mounts: append(append([]deployment.Mount{deployment.ConfigMount(s.Pass)}, keys.Mounts(k.Name)...), database.TLSMounts(s.Pass)...),
		Annotations: map[string]string{
			annotationAdminPasswordHash: hash, database.HashAnnotation(&pass.Definition): database.Connection.Value(s.Slots).Hash(),
		},
		RunKey: keystoneSchema.OnRequest(s.Pass, []any{hash, settings, database.SpecAddress(s.Pass), k.Spec.Database.Database}),
	}
}
