package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/keys"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/rotation"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// annotationKeyHistory, on a key Secret, records when each key was the primary one.
const annotationKeyHistory = "forge.c5c3.io/key-history"

func stagingName(secret string) string { return secret + "-rotation" }

// stagedRotation is a finished rotation that waits to be promoted.
type stagedRotation struct {
	current, staging *corev1.Secret
	history          keys.History
	use              keys.Use
}

// promote replaces the keys in use with staged ones that were derived from them, as soon
// as no token or credential loses its key by that.
func (f keyFamily) promote(ctx context.Context, s *scope, current *corev1.Secret) reconcile.Outcome {
	lifetime, known := f.lifetime(s)
	if !known {
		return f.done(s) // Reported by Config or by the check of the configuration.
	}
	use, err := keyUse(ctx, s, lifetime)
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	r := stagedRotation{current: current, use: use}
	r.history = keys.ParseHistory(current.Annotations[annotationKeyHistory]).Observe(current.Data, s.Now(), use)
	if err := f.remember(ctx, s, &r); err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	staging, err := s.Owned.Find(ctx, s.Key(stagingName(current.Name)))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	// A staging Secret with another owner is reported by the step that ensures it.
	if staging == nil || !metav1.IsControlledBy(staging, s.keystone) {
		s.lifetimes.held.Unset(client.ObjectKeyFromObject(s.keystone), f.metric)
		return f.done(s)
	}
	r.staging = staging
	_, finished, err := rotation.CompletedAt(staging)
	switch {
	case err != nil:
		return reconcile.Done(f.available, fmt.Sprintf("Secret %s holds the keys; a rotation is ignored: %s", current.Name, err)).
			OnNews(corev1.EventTypeWarning, keystonev1alpha1.EventRotationAnnotationInvalid, err.Error())
	case !finished:
		s.lifetimes.held.Unset(client.ObjectKeyFromObject(s.keystone), f.metric)
		if len(staging.Data) > 0 {
			log.FromContext(ctx).V(1).Info("Ignoring an unfinished rotation", "secret", staging.Name)
		}
		return f.done(s)
	case rotation.Applied(current, staging):
		return f.discard(ctx, s, r, f.done(s))
	}
	return f.decide(ctx, s, r)
}

// keyUse returns how the keys are used. Pods of an older configuration issue tokens with
// the lifetime in that configuration.
func keyUse(ctx context.Context, s *scope, lifetime time.Duration) (keys.Use, error) {
	use := keys.Use{Lifetime: lifetime, Propagation: s.propagation}
	if lifetime == 0 {
		return use, nil
	}
	pods, err := deployment.APIPods(ctx, s.Pass)
	current := func(volume corev1.Volume) bool { return deployment.IsConfig(s.Pass, volume) }
	use.Mixed = slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return !slices.ContainsFunc(pod.Spec.Volumes, current) })
	return use, err
}

// remember records the history if the keys changed other than by a promotion.
func (f keyFamily) remember(ctx context.Context, s *scope, r *stagedRotation) error {
	if r.current.Annotations[annotationKeyHistory] == r.history.String() {
		return nil
	}
	updated := r.current.DeepCopy()
	metav1.SetMetaDataAnnotation(&updated.ObjectMeta, annotationKeyHistory, r.history.String())
	if err := apply.Update(ctx, s.Client, updated, "recording the use of the keys in"); err != nil {
		return err
	}
	r.current = updated
	return nil
}

func (f keyFamily) decide(ctx context.Context, s *scope, r stagedRotation) reconcile.Outcome {
	err := keys.Validate(r.staging.Data, f.maxActive(s.keystone))
	if err == nil {
		err = keys.ValidateSuccessor(r.current.Data, r.staging.Data)
	}
	switch {
	case errors.Is(err, keys.ErrNotSuccessor) && r.accepted(s):
		return f.apply(ctx, s, r)
	case err != nil:
		return f.reject(ctx, s, r, err)
	}
	if held := f.hold(s, r); held.reason != "" {
		outcome := reconcile.Done(f.available, fmt.Sprintf("Secret %s holds the keys; a rotation is held %s", r.current.Name, held.reason)).
			OnNews(corev1.EventTypeNormal, keystonev1alpha1.EventRotationHeld, "The rotation of Secret "+r.current.Name+" is held "+held.reason)
		if at, _, err := rotation.CompletedAt(r.staging); err == nil {
			s.lifetimes.held.Set(client.ObjectKeyFromObject(s.keystone), f.metric, at)
		}
		if !held.until.IsZero() {
			// A clock that is set back must not prolong the wait, and one that has just
			// passed the time must not leave the rotation without a timer.
			outcome = outcome.After(max(min(held.until.Sub(s.Now()), longestHoldTimer), time.Second))
		}
		return outcome
	}
	return f.apply(ctx, s, r)
}

// acceptance returns the annotation with which a user accepts that the staged keys
// replace those in use regardless of their origin, "" if Keystone could not use them.
func (r stagedRotation) acceptance() string {
	if keys.ValidateInUse(r.staging.Data) != nil {
		return ""
	}
	return keystonev1alpha1.AnnotationAcceptStagedKeys + "=" + keys.ReplacementID(r.current.Data, r.staging.Data)
}

func (r stagedRotation) accepted(s *scope) bool {
	request := s.keystone.Annotations[keystonev1alpha1.AnnotationAcceptStagedKeys]
	return r.acceptance() == keystonev1alpha1.AnnotationAcceptStagedKeys+"="+request
}

// longestHoldTimer bounds the requeue of a held rotation.
const longestHoldTimer = time.Hour

// reject empties the staging Secret, so that the next run of the CronJob starts from the
// keys in use.
func (f keyFamily) reject(ctx context.Context, s *scope, r stagedRotation, problem error) reconcile.Outcome {
	if err := rotation.Clear(ctx, s.Client, r.staging); err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	advice := "the keys in use stay, and the next run of the CronJob makes new ones"
	if errors.Is(problem, keys.ErrNotSuccessor) {
		advice = "the keys in use have changed since, and promoting these could remove keys that are needed; " + advice
		if acceptance := r.acceptance(); acceptance != "" {
			advice += "; to promote these anyway, at the cost of what only the keys in use can read, " +
				"annotate the Keystone with " + acceptance + " and stage them again"
		}
	}
	return f.done(s).WithEvent(corev1.EventTypeWarning, keystonev1alpha1.EventRotationRejected,
		fmt.Sprintf("Rejected what is staged in Secret %s: %s; %s", r.staging.Name, problem, advice))
}

// apply is a single write: keys, time and history change together or not at all. It fails
// with a conflict if the Secret has changed since it was read.
func (f keyFamily) apply(ctx context.Context, s *scope, r stagedRotation) reconcile.Outcome {
	next := r.current.DeepCopy()
	next.Data = r.staging.Data
	history := r.history.Observe(next.Data, s.Now(), r.use)
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, annotationKeyHistory, history.String())
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, rotation.CompletedAtAnnotation,
		r.staging.Annotations[rotation.CompletedAtAnnotation])
	if err := apply.Update(ctx, s.Client, next, "taking over rotated keys in"); err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
	}
	f.reportAge(s, next)
	s.lifetimes.held.Unset(client.ObjectKeyFromObject(s.keystone), f.metric)
	primary, _ := keys.PrimaryName(next.Data)
	text := fmt.Sprintf("Secret %s holds rotated keys: %q is the primary one of %d", next.Name, primary, len(next.Data))
	return f.discard(ctx, s, r, reconcile.Done(f.rotated, text).WithNormalEvent(f.rotated, text))
}

// discard removes what has been promoted and keeps the events of outcome.
func (f keyFamily) discard(ctx context.Context, s *scope, r stagedRotation, outcome reconcile.Outcome) reconcile.Outcome {
	if err := rotation.Discard(ctx, s.Client, r.staging); err != nil {
		failed := reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
		for _, event := range outcome.Events() {
			failed = failed.WithEvent(event.Type, event.Reason, event.Note)
		}
		return failed
	}
	return outcome
}

// reportAge exports how long the primary key has been in use.
func (f keyFamily) reportAge(s *scope, secret *corev1.Secret) {
	since := keys.ParseHistory(secret.Annotations[annotationKeyHistory]).Primary(secret.Data).Since
	if at, ok, err := rotation.CompletedAt(secret); ok && err == nil {
		since = at
	}
	if since.IsZero() {
		since = secret.CreationTimestamp.Time
	}
	s.lifetimes.age.Set(client.ObjectKeyFromObject(s.keystone), f.metric, since)
}
