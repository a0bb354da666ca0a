package schema

import (
	"context"

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
	return w.recordJobs(ctx, w.followRelease)
}

func (w *work) followRelease(ctx context.Context) reconcile.Outcome {
	contracted, err := w.contractedRelease(ctx)
	if err == nil {
		err = w.recoverInstalledRelease(ctx)
	}
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	plan, err := planSchema(w.Spec.Image.Tag, w.Status, contracted)
	switch plan {
	case schemaUpgrade:
		return w.upgrade(ctx)
	case schemaAbort:
		return w.abortUpgrade(ctx)
	case schemaSync:
		return w.syncSchema(ctx)
	}
	return reconcile.Failed(vocabulary.ReasonReconcileError, err)
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
	plan, _ := planSchema(p.Spec.Image.Tag, p.Status, contracted)
	return plan == schemaSync, nil
}

// Install installs the schema; the step of [Schema.Reconcile] checks it afterwards. It is
// for services that must know what is in the database before that step.
func (s Schema) Install(ctx context.Context, p *service.Pass) reconcile.Outcome {
	if err := s.Database.EnsureManaged(ctx, p); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonWaitingForDatabase, err)
	}
	w := s.work(p)
	if err := w.runTask(ctx, w.syncTask(), syncReasons); err != nil {
		return reconcile.Failed(vocabulary.ReasonDBSyncFailed, err)
	}
	return reconcile.Done(vocabulary.ReasonDatabaseSynced, "")
}

// Count counts the finished Jobs. It is called when an outcome of [Schema.Install] keeps
// the step of [Schema.Reconcile] from running.
func (s Schema) Count(ctx context.Context, p *service.Pass, outcome reconcile.Outcome) reconcile.Outcome {
	return s.work(p).recordJobs(ctx, func(context.Context) reconcile.Outcome { return outcome })
}

// CompleteRollout records that the schema may be contracted once no pod of the old
// release is left. It is the [deployment.API.Complete] of a service with upgrades.
func (s Schema) CompleteRollout(ctx context.Context, p *service.Pass) (news string, err error) {
	return s.work(p).completeRollout(ctx)
}
