// Package keysecret keeps Secrets with keys that cannot be made again, because they encrypt
// what the database of a service holds. It has the keys made once, keeps copies of them in
// the secret store, restores them from there, and removes them with the database.
package keysecret

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
)

// Keys declares a Secret with keys.
type Keys struct {
	// Name is what the name of the Secret has after that of the resource, and the last
	// element of the path in the store.
	Name string
	// Needed is true if the content of the database cannot be read with other keys.
	Needed bool
	// Encrypted is what the keys encrypt, such as "the credentials", and Abandon how users
	// accept that it is lost. Both are empty unless Needed.
	Encrypted, Abandon string
	// Loss is what users lose if the keys are lost permanently.
	Loss string
	// Validate returns why the service cannot use the content of the Secret. The error
	// contains no key.
	Validate func(data map[string][]byte) error
}

// Content is what is known about the content of the database.
type Content struct {
	// Known is true once the database has been inspected with the mounted keys.
	Known bool
	// Keys is a hash of these keys, "" without any.
	Keys string
	// Pending is what an inspection of keys that somebody has changed waits for.
	Pending string
	// Unreadable is set if it holds something that the mounted keys cannot read.
	Unreadable error
}

// DatabaseContent is set by [Inspection].
var DatabaseContent = reconcile.NewSlot[Content]("DatabaseContent")

// Of returns the name of the Secret of the pass.
func (k Keys) Of(p *service.Pass) string { return p.Named(k.Name) }

// BackUp is [ReconcileBackup] of these keys alone.
func (k Keys) BackUp(ctx context.Context, p *service.Pass) reconcile.Outcome {
	return ReconcileBackup(ctx, p, k)
}

// Finalize is [Finalize] of these keys alone.
func (k Keys) Finalize(ctx context.Context, p *service.Pass) reconcile.Outcome {
	return Finalize(ctx, p, StoreTimeout, k)
}

// Mounted is the Secret that the first installation of the schema tests against the
// database, nil for none. [Inspection] sets it.
var Mounted = reconcile.NewSlot[*corev1.Secret]("MountedKeys")
