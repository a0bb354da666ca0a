package keyring

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/release"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// annotationHash on API pods is a hash of the keys that they were started with, keyed with the
// UID of the Secret.
const annotationHash = "forge.c5c3.io/key-ring-hash"

// Rotation declares the keys of a service and their rotation.
type Rotation struct {
	Format Format
	Keys   keysecret.Keys
	// Annotation of the resource asks for a rotation with each new value.
	Annotation string
	// Since is the first release that can encrypt again what the old key has encrypted.
	Since release.Release
	// Rewrap is the task that encrypts everything with the first key, and fails unless only
	// that key is needed afterwards. Reconcile sets what it runs for.
	Rewrap func(p *service.Pass) deployment.Task

	// Available and Rotating are the reasons while the keys can be used, Refused is that of a
	// release before Since, and Failed that of a failed Rewrap.
	Available, Rotating, Refused, Failed string
	// Generated is the event of the first key, and Rotated that of the end of a rotation.
	Generated, Rotated string
}

// inUse are the keys of a pass.
type inUse struct {
	secret *corev1.Secret
	ring   Ring
	// hash is that of the file alone: pods do not depend on the rest of the Secret.
	hash string
}

// InUse is set by [Rotation.Reconcile].
var InUse = reconcile.NewSlot[inUse]("KeyRing")

// Annotations replace the API pods when the keys change.
func Annotations(p *service.Pass) map[string]string {
	return map[string]string{annotationHash: InUse.Value(p.Slots).hash}
}

// Reconcile ensures the Secret with the keys. It sets [InUse], and shares its condition with
// [Rotation.Rotate].
func (r Rotation) Reconcile(ctx context.Context, p *service.Pass) reconcile.Outcome {
	secret, created, err := r.Keys.Ensure(ctx, p, func(data map[string][]byte) (*corev1.Secret, error) { return r.newSecret(p, data) })
	var ring Ring
	if err == nil {
		ring, err = r.Format.Parse(secret.Data)
	}
	if err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonGeneratingKeys, err)
	}
	file := &corev1.Secret{Data: map[string][]byte{r.Format.File: secret.Data[r.Format.File]}}
	file.UID = secret.UID
	InUse.Put(p.Slots, inUse{secret, ring, secrets.ContentHash(file)})
	// The message is that of [Rotation.Rotate].
	done := reconcile.Done(r.Available, "")
	if created {
		return done.WithNormalEvent(r.Generated, "Created Secret "+secret.Name+" with a key")
	}
	return done
}

func (r Rotation) available(p *service.Pass) reconcile.Outcome {
	return reconcile.Done(r.Available, fmt.Sprintf("Secret %s holds the key", r.Keys.Of(p)))
}

// newSecret builds the Secret with the data, or with a new key if data is nil.
func (r Rotation) newSecret(p *service.Pass, data map[string][]byte) (*corev1.Secret, error) {
	if data == nil {
		ring, err := Make(p.Resource.GetAnnotations()[r.Annotation])
		if err != nil {
			return nil, err
		}
		data = r.Format.Data(ring)
	}
	return &corev1.Secret{ObjectMeta: service.Irreplaceable(p, r.Keys.Of(p)), Type: corev1.SecretTypeOpaque, Data: data}, nil
}

// Rotate replaces the key on request. It takes one step at a time, and each only once all API
// pods have the keys of the one before: otherwise one of them might need a key that it does
// not have, or still encrypt with one that the next step takes away.
func (r Rotation) Rotate(ctx context.Context, p *service.Pass) reconcile.Outcome {
	keys := InUse.Value(p.Slots)
	if keys.secret == nil {
		return r.available(p) // The first step reports what is missing.
	}
	request := p.Resource.GetAnnotations()[r.Annotation]
	if keys.ring.settled() {
		switch refusal := r.refusal(p); {
		case request == "" || request == keys.ring.Answered:
			return r.available(p)
		case refusal != "":
			return reconcile.Degraded(r.Refused, refusal)
		}
	}
	if p.Status.InstalledRelease == "" || p.Status.UpgradePhase != "" {
		return r.rotating(p, "until the release is installed")
	}
	switch everywhere, err := deployment.EveryPodHas(ctx, p, annotationHash, keys.hash); {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	case !everywhere:
		return r.rotating(p, "until all API pods have the keys in the Secret")
	}
	return r.advance(ctx, p, keys, request)
}

func (r Rotation) rotating(p *service.Pass, until string) reconcile.Outcome {
	return reconcile.Done(r.Rotating, fmt.Sprintf("The rotation of the key in Secret %s waits %s", r.Keys.Of(p), until))
}

// refusal returns why the key cannot be rotated, "" if it can.
func (r Rotation) refusal(p *service.Pass) string {
	installed, err := release.Parse(p.Status.InstalledRelease)
	if err != nil || installed.Compare(r.Since) >= 0 {
		return ""
	}
	return fmt.Sprintf("the key cannot be rotated: release %s cannot encrypt again what it has encrypted; upgrade to %s or later, "+
		"or remove the annotation %s", p.Status.InstalledRelease, r.Since, r.Annotation)
}

// advance takes the next step of a rotation.
func (r Rotation) advance(ctx context.Context, p *service.Pass, keys inUse, request string) reconcile.Outcome {
	switch {
	case keys.ring.settled():
		key, err := newKey()
		if err != nil {
			return reconcile.Failed(vocabulary.ReasonReconcileError, err)
		}
		return r.store(ctx, p, keys, keys.ring.announce(key, request))
	case keys.ring.announced():
		return r.store(ctx, p, keys, keys.ring.lead())
	}
	task := r.Rewrap(p)
	task.RunKey = fernet.ID([]byte(keys.ring.Keys[0]))
	desired, err := deployment.TaskJob(p, task)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	state, err := service.Runner(p).Run(ctx, p.Resource, desired)
	switch {
	case errors.Is(err, job.ErrJobFailed):
		return reconcile.WriteFailed(r.Failed, fmt.Errorf("encrypting with the new key failed, and the old one stays: %w", err))
	case err != nil:
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	case state.Waiting != "":
		return deployment.Await(r.Failed, desired.Name, "encrypting with the new key", state, "")
	case !state.Complete:
		return r.rotating(p, "until Job "+desired.Name+" has encrypted everything with the new key").Within(state.Again)
	}
	return r.store(ctx, p, keys, keys.ring.settle())
}

// store writes the keys of the next step. It fails with a conflict if the Secret has changed
// since it was read.
func (r Rotation) store(ctx context.Context, p *service.Pass, keys inUse, next Ring) reconcile.Outcome {
	changed := keys.secret.DeepCopy()
	changed.Data = r.Format.Data(next)
	if err := apply.Update(ctx, p.Client, changed, "rotating the key in"); err != nil {
		return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
	}
	r.Keys.Trust(p, changed)
	if next.settled() {
		return r.available(p).WithNormalEvent(r.Rotated, "Secret "+changed.Name+" holds a new key alone, and nothing needs the old one")
	}
	return r.rotating(p, "until all API pods have the keys in the Secret")
}
