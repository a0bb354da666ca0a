// Package schema keeps the schema of a service's database at the release of its image:
// the installation, upgrades from release to release by phases, and the way back.
package schema

import (
	"context"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Schema declares the tools of a service that work on the schema of its database.
type Schema struct {
	// Database is the database with the schema.
	Database database.Database
	// Sync installs the schema, or brings it up to date within a release.
	Sync []string
	// Check succeeds when the schema is that of the image. CheckResults are the exit
	// codes with which it reports a schema that is not; with any other it could not look.
	Check        []string
	CheckResults []int32
	// Login succeeds when the tool could log in to the database and found a schema, of
	// whatever release. It proves a connection while the schema is not the image's.
	Login []string
	// Expand adds what the next release needs while the old one serves, Migrate moves
	// data, and Contract drops what only the old release used. Without Migrate that
	// phase is passed over.
	Expand, Migrate, Contract []string
	// RunAgain is the annotation of a resource whose changed value runs the installation
	// and the check again, and whatever else uses [Schema.OnRequest].
	RunAgain string
	// First completes the task of the first installation. It may be nil.
	First func(p *service.Pass, sync *deployment.Task)
}

// work is what is done about the schema in one pass.
type work struct {
	*service.Pass
	Schema
	// checking is true while a check has not ended: of the schema, or of the connection.
	checking bool
}

func (s Schema) work(p *service.Pass) *work { return &work{Pass: p, Schema: s} }

// Reconcile brings the database to the schema of the image: the database and its user
// when a MariaDB of the cluster holds it, then what the image's release means for the
// installed schema. It is the step that owns DatabaseReady.
func (s Schema) Reconcile(ctx context.Context, p *service.Pass) reconcile.Outcome {
	// The key may have been made in this pass.
	if err := s.Database.FindKey(ctx, p); err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	if outcome := s.Database.EnsureManaged(ctx, p); !outcome.IsDone() {
		return outcome
	}
	w := s.work(p)
	return w.recordJobs(ctx, w.followRelease)
}

// InstallsFirst reports whether the schema is to be installed and nothing tells
// of an earlier installation.
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

// Install installs the schema, which the step of [Schema.Reconcile] checks. A service
// that has to know first what is in the database does it before that step.
func (s Schema) Install(ctx context.Context, p *service.Pass) reconcile.Outcome {
	if outcome := s.Database.EnsureManaged(ctx, p); !outcome.IsDone() {
		return outcome
	}
	w := s.work(p)
	return w.runTask(ctx, w.syncTask(), syncReasons)
}

// Count counts the Jobs that have ended, for an outcome of [Schema.Install] after which
// the step of [Schema.Reconcile] does not run.
func (s Schema) Count(ctx context.Context, p *service.Pass, outcome reconcile.Outcome) reconcile.Outcome {
	return s.work(p).recordJobs(ctx, func(context.Context) reconcile.Outcome { return outcome })
}

// CompleteRollout records, once no pod of the old release is left, that the schema may
// be contracted. ready is the outcome of the step that has rolled the Deployment out.
func (s Schema) CompleteRollout(ctx context.Context, p *service.Pass, ready reconcile.Outcome) reconcile.Outcome {
	return s.work(p).completeRollout(ctx, ready)
}
