package keysecret

import (
	"context"
	"errors"
	"time"

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

// hashOf returns a hash of the keys, which is the same for a Secret that was made anew, and "" for
// no Secret.
func hashOf(secret *corev1.Secret) string {
	if secret == nil {
		return ""
	}
	return secrets.ContentHash(&corev1.Secret{Data: unpacked(secret).Data})
}

// Untested reports whether it is not known that the keys in a Secret of an installed service
// read its database, which needs them. Those that it already has are trusted if nothing is recorded.
func Untested(p *service.Pass, secret *corev1.Secret) bool {
	if p.Status.KeysHash == hashOf(secret) {
		return false
	}
	return p.Status.KeysHash != "" || !claimed(p, secret)
}

func (k Keys) untested(p *service.Pass, secret *corev1.Secret) bool {
	return k.Needed && Untested(p, secret)
}

// tested returns an error while it is not known whether the keys in the Secret read the
// database.
func (k Keys) tested(p *service.Pass, secret *corev1.Secret) error {
	content := DatabaseContent.Value(p.Slots)
	// They may have changed since the pass looked at the database.
	known := content.Known && (content.Keys == "" || content.Keys == hashOf(secret))
	if known || !k.untested(p, secret) {
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
	if found == nil || i.Keys.Validate(unpacked(found).Data) != nil {
		return done
	}
	// Pods may have used other keys before these came back.
	live, err := service.Runner(p).Find(ctx, p.Resource, p.Named(TaskCheck))
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	untested := i.Keys.untested(p, found)
	if !untested && (live == nil || !live.DeletionTimestamp.IsZero()) {
		return done
	}
	desired, err := i.checkJob(p, of, found)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	state, err := service.Runner(p).Run(ctx, p.Resource, desired)
	content, again, err := resultOf(desired.Name, state, err)
	if err == nil && content.Known && content.Unreadable == nil && !untested {
		// Its result counts only until the keys are rotated.
		_, err = service.Runner(p).Remove(ctx, p.Resource, desired)
	}
	if err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	}
	content.Keys = hashOf(found)
	DatabaseContent.Put(p.Slots, content)
	return done.Within(again)
}

// resultOf returns what a run of the Job has found out, and after which delay to look again.
func resultOf(name string, state job.State, err error) (content Content, again time.Duration, _ error) {
	content = contentOf(err)
	var failed *job.FailedError
	switch {
	case content.Unreadable != nil:
		return content, job.RetryAfter, nil
	case errors.As(err, &failed):
		return Content{Pending: failed.Error()}, job.RetryAfter, nil
	case err != nil:
		return Content{}, 0, err
	case !state.Complete:
		pending := deployment.Unfinished(vocabulary.ReasonCheckingKeys, name, "testing them", state, "")
		return Content{Pending: pending.Error()}, state.Again, nil
	}
	return content, 0, nil
}

// contentOf returns what the end of a program that inspects the database says about that.
func contentOf(err error) Content {
	var failed *job.FailedError
	if errors.As(err, &failed) && failed.ExitCode == unreadable {
		return Content{Known: true, Unreadable: failed}
	}
	return Content{Known: err == nil}
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
