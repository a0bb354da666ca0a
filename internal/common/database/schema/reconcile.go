package schema

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Reconcile brings the database to the schema of the image. It first ensures a managed
// database and its user, and then follows the image's release. It is the step that owns
// DatabaseReady.
func (s Schema) Reconcile(ctx context.Context, p *service.Pass) reconcile.Outcome {
	// The key may have been created in this pass.
	if err := s.Database.FindKey(ctx, p); err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	if err := s.Database.EnsureManaged(ctx, p); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonWaitingForDatabase, err)
	}
	w := s.work(p)
	before := w.uncountedJobs(ctx)
	var err error
	if w.recheck, err = w.findRecheck(ctx); err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	message, err := w.followRelease(ctx)
	return w.count(ctx, before, w.report(message, err).Within(w.recheck.again))
}

// report returns the outcome for a schema that fits, as the message says, or does not fit
// yet.
func (w *work) report(message string, err error) reconcile.Outcome {
	outcome := reconcile.Done(vocabulary.ReasonDatabaseSynced, message)
	if err != nil {
		outcome = reconcile.Failed(vocabulary.ReasonDBSyncFailed, deployment.SinceWhenDown(w.Pass, err))
	}
	if w.proceed {
		outcome = outcome.Proceed()
	}
	for _, event := range w.recorded {
		outcome = outcome.OnRecord(event.Type, event.Reason, event.Note)
	}
	return outcome
}

// followRelease brings the schema to the release of the image. It returns an error until
// the schema fits, and then says what it fits.
func (w *work) followRelease(ctx context.Context) (message string, err error) {
	contracted, err := w.contractedRelease(ctx)
	if err == nil {
		err = w.recoverInstalledRelease(ctx)
	}
	if err != nil {
		return "", reconcile.WithReason(vocabulary.ReasonReconcileError, err)
	}
	plan, err := planSchema(w.request(), w.Status, contracted)
	switch plan {
	case schemaUpgrade:
		return w.upgrade(ctx)
	case schemaOffline:
		return w.upgradeOffline(ctx)
	case schemaAbort:
		return w.abortUpgrade(ctx)
	case schemaSync:
		return w.syncSchema(ctx)
	}
	return "", err
}

// InstallsFirst reports whether the schema is to be installed for the first time: there
// is no trace of an earlier installation.
func (s Schema) InstallsFirst(ctx context.Context, p *service.Pass) (bool, error) {
	if p.Status.InstalledRelease != "" || p.Status.ExpandedRelease != "" {
		return false, nil
	}
	w := s.work(p)
	contracted, err := w.contractedRelease(ctx)
	if err == nil {
		err = w.recoverInstalledRelease(ctx)
	}
	if err != nil || contracted != "" || p.Status.InstalledRelease != "" {
		return false, err
	}
	plan, _ := planSchema(w.request(), p.Status, contracted)
	return plan == schemaSync, nil
}

// Install installs the schema, and returns an error until that is done; the step of
// [Schema.Reconcile] checks it afterwards. It is for services that must know what is in
// the database before that step.
func (s Schema) Install(ctx context.Context, p *service.Pass) error {
	if err := s.Database.EnsureManaged(ctx, p); err != nil {
		return reconcile.WithReason(vocabulary.ReasonWaitingForDatabase, err)
	}
	w := s.work(p)
	return w.runTask(ctx, w.syncTask(), syncReasons)
}

// Count counts the finished Jobs. A step that keeps the one of [Schema.Reconcile] from
// running returns its outcome through it.
func (s Schema) Count(ctx context.Context, p *service.Pass, outcome reconcile.Outcome) reconcile.Outcome {
	w := s.work(p)
	return w.count(ctx, w.uncountedJobs(ctx), outcome)
}

// count counts the Jobs, and adds to the outcome of the step that they are counted later.
func (w *work) count(ctx context.Context, before uncounted, outcome reconcile.Outcome) reconcile.Outcome {
	switch err := w.recordJobs(ctx, before); {
	case apierrors.IsConflict(err):
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	case err != nil:
		log.FromContext(ctx).Error(err, "Counting the database Jobs failed; retrying")
		return outcome.After(countRetry).WithEvent(corev1.EventTypeWarning, vocabulary.EventDBSyncMetricEmissionDeferred,
			fmt.Sprintf("Database Jobs that have ended are counted later: %v", err))
	}
	return outcome
}

// CompleteRollout records that the schema may be contracted once no pod of the old
// release is left. It is the [deployment.API.Complete] of a service with upgrades.
func (s Schema) CompleteRollout(ctx context.Context, p *service.Pass) (news string, err error) {
	return s.work(p).completeRollout(ctx)
}
