package keysecret

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/scheduled"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// TaskCheck is the task that tests keys that somebody has put into the Secret of an installed
// service.
const TaskCheck = "key-check"

// Trust records that the keys in the Secret read the content of the database. Whoever replaces
// keys calls it in the pass that writes them, so that no Job has to test them.
func (k Keys) Trust(p *service.Pass, secret *corev1.Secret) {
	if k.Needed {
		p.Status.KeysHash = hashOf(secret)
	}
}

// hashOf returns a hash of the keys, which is the same for a Secret that was made anew.
func hashOf(secret *corev1.Secret) string {
	return secrets.ContentHash(&corev1.Secret{Data: unpacked(secret).Data})
}

// untested reports whether it is not known that the keys in a Secret of an installed service
// read its database. Those that it already has are trusted if nothing is recorded.
func (k Keys) untested(p *service.Pass, secret *corev1.Secret) bool {
	if !k.Needed || p.Status.KeysHash == hashOf(secret) {
		return false
	}
	return p.Status.KeysHash != "" || !k.claimed(p, secret)
}

// tested returns an error while it is not known whether the keys in the Secret read the
// database.
func (k Keys) tested(p *service.Pass, secret *corev1.Secret) error {
	content := DatabaseContent.Value(p.Slots)
	if content.Known || !k.untested(p, secret) {
		return nil
	}
	return reconcile.WaitError(vocabulary.ReasonCheckingKeys,
		"the keys in Secret "+secret.Name+" have changed, and pods keep the previous ones until it is known whether they can read "+
			k.Encrypted+": "+content.Pending)
}

// check tests keys that somebody has put into the Secret of an installed service. The step of
// the keys reports the result.
func (i Inspection) check(ctx context.Context, p *service.Pass, of schema.Schema) reconcile.Outcome {
	done := reconcile.Done(vocabulary.ReasonDatabaseSynced, "")
	found, err := i.mounted(ctx, p)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	if found == nil || i.Keys.Validate(unpacked(found).Data) != nil || !i.Keys.untested(p, found) {
		return done
	}
	desired, err := i.checkJob(p, of, found)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	state, err := service.Runner(p).Run(ctx, p.Resource, desired)
	var failed *job.FailedError
	switch {
	case errors.As(err, &failed) && failed.ExitCode == unreadable:
		DatabaseContent.Put(p.Slots, Content{Known: true, Unreadable: failed})
		return done.Within(job.RetryAfter)
	case errors.As(err, &failed):
		DatabaseContent.Put(p.Slots, Content{Pending: failed.Error()})
		return done.Within(job.RetryAfter)
	case err != nil:
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	case !state.Complete:
		pending := deployment.Unfinished(vocabulary.ReasonCheckingKeys, desired.Name, "testing them", state, "")
		DatabaseContent.Put(p.Slots, Content{Pending: pending.Error()})
		return done.Within(state.Again)
	}
	DatabaseContent.Put(p.Slots, Content{Known: true})
	return done
}

// checkJob builds the Job that tests the keys in the Secret.
func (i Inspection) checkJob(p *service.Pass, of schema.Schema, found *corev1.Secret) (*batchv1.Job, error) {
	return deployment.TaskJob(p, deployment.Task{
		Name: TaskCheck, Container: TaskCheck, Image: scheduled.Image(p.Spec, p.Status), Retries: 2,
		Command: i.Command, Env: of.Database.ToolEnv(p),
		Mounts:   append([]deployment.Mount{deployment.ConfigMount(p), i.Mount(found.Name)}, database.TLSMounts(p)...),
		Failures: []batchv1.PodFailurePolicyRule{deployment.FailsAtOnce(TaskCheck, unreadable)},
		RunKey:   hashOf(found),
	})
}
