package keysecret

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database/schema"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// unreadable is the exit code of a program that inspects the database if that holds something
// that no key can read.
const unreadable int32 = 78

// annotationMounted, on the pods of the first installation, changes with the keys that the
// pods test against the database.
const annotationMounted = "forge.c5c3.io/credential-keys-hash"

// Inspection makes the first installation of a schema inspect the database.
type Inspection struct {
	// Keys are the keys that have to read the content of the database.
	Keys Keys
	// Command ends with code 78 if the database holds something that no mounted key can read.
	// Otherwise it continues with the arguments of the command that installs the schema.
	Command []string
	// Mount returns where Command finds the Secret with the name, which may not exist.
	Mount func(secret string) deployment.Mount
}

// First completes the task of the first installation, as [schema.Schema.First]. The task is
// retried when the keys change.
func (i Inspection) First(p *service.Pass, sync *deployment.Task) {
	sync.Command = slices.Concat(i.Command, sync.Command[1:])
	mount := i.Mount(i.Keys.Of(p))
	mount.Volume.Secret.Optional = ptr.To(true)
	sync.Mounts = append(slices.Clone(sync.Mounts), mount)
	if found := Mounted.Value(p.Slots); found != nil {
		sync.Annotations[annotationMounted] = secrets.ContentHash(found)
	}
	sync.Failures = append(sync.Failures, deployment.FailsAtOnce(schema.TaskSync, unreadable))
}

// Reconcile installs the schema before keys are generated: the database may already be in
// use, and what is in it needs its own keys. Afterwards it tests keys that somebody has
// changed. The step that reconciles the schema handles everything else.
func (i Inspection) Reconcile(ctx context.Context, p *service.Pass, of schema.Schema) reconcile.Outcome {
	first, err := of.InstallsFirst(ctx, p)
	switch {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	case !first:
		return i.check(ctx, p, of)
	}
	if err := i.install(ctx, p, of); err != nil {
		return of.Count(ctx, p, reconcile.Failed(vocabulary.ReasonDBSyncFailed, err))
	}
	return reconcile.Done(vocabulary.ReasonDatabaseSynced, "")
}

// install returns an error until the schema is installed.
func (i Inspection) install(ctx context.Context, p *service.Pass, of schema.Schema) error {
	found, err := i.mounted(ctx, p)
	if err != nil {
		return err
	}
	Mounted.Put(p.Slots, found)
	err = of.Install(ctx, p)
	seen := contentOf(err)
	seen.Keys = hashOf(found)
	DatabaseContent.Put(p.Slots, seen)
	return err
}

// mounted returns the Secret that a Job mounts by its name, even if it is not claimed yet; nil
// for none.
func (i Inspection) mounted(ctx context.Context, p *service.Pass) (*corev1.Secret, error) {
	key := p.Key(i.Keys.Of(p))
	if found, err := p.Owned.Find(ctx, key); err != nil || found != nil {
		return found, err
	}
	return apply.Find(ctx, p.Refs, key, &corev1.Secret{})
}
