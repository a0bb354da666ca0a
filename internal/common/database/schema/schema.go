// Package schema keeps the schema of a service's database at the release of its image. It
// covers the installation, upgrades from release to release in phases, and aborting an
// upgrade.
package schema

import (
	"context"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Schema declares a service's tools for its database schema.
type Schema struct {
	// Database is the database that holds the schema.
	Database database.Database
	// Sync installs the schema, or updates it within a release.
	Sync []string
	// Check succeeds if the schema is that of the image. CheckResults are the exit codes
	// for a schema that is not; any other exit code means that the check itself failed.
	Check        []string
	CheckResults []int32
	// Login succeeds if the tool could log in to the database and found a schema of any
	// release. It verifies a connection while the schema is not that of the image.
	Login []string
	// Expand adds what the next release needs while the old one keeps serving, Migrate
	// moves data, and Contract drops what only the old release used. If Migrate is nil, the
	// pods are replaced right after the expansion. If Contract is nil, the expanded schema
	// is that of the new release, and the last phase only checks it.
	Expand, Migrate, Contract []string
	// RunAgain is an annotation on the resource. Changing its value repeats the
	// installation, the check, and every task that uses [Schema.OnRequest].
	RunAgain string
	// First completes the task of the first installation. It may be nil.
	First func(p *service.Pass, sync *deployment.Task)
}

// work holds the state of the schema steps in one pass.
type work struct {
	*service.Pass
	Schema
	// checking is true while a check of the schema or of the connection is running,
	// accepted once the schema has passed the check.
	checking, accepted bool
}

func (s Schema) work(p *service.Pass) *work { return &work{Pass: p, Schema: s} }

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
