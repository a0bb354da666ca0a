// Package schema keeps the schema of a service's database at the release of its image. It
// covers the installation, upgrades from release to release in phases, offline upgrades on
// request, and the abort of an upgrade.
package schema

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
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
	// SLURP reports whether an upgrade may skip a release as [release.Toward] describes.
	SLURP bool
	// Reach succeeds if the tool could log in to the database and can bring the schema in it
	// to the release of the image. It verifies that before an offline upgrade stops the API.
	// If it is nil, Login does.
	Reach []string
	// SyncMigrates reports whether Sync migrates the data, too. Otherwise an offline upgrade
	// runs Migrate after it.
	SyncMigrates bool
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
	// proceed lets later steps run although the schema does not fit yet.
	proceed bool
	// recheck tells whether an earlier check of the schema still counts.
	recheck recheck
	// recorded are the events about the phases that the status is to have.
	recorded []reconcile.Event
}

func (s Schema) work(p *service.Pass) *work { return &work{Pass: p, Schema: s} }

// record announces a phase once the status has it.
func (w *work) record(event, note string) {
	w.recorded = append(w.recorded, reconcile.Event{Type: corev1.EventTypeNormal, Reason: event, Note: note})
}

// access returns how Jobs and pods log in to the database in this pass.
func (w *work) access() *database.Access { return database.Connection.Value(w.Slots) }
