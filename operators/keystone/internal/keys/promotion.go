package keys

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
	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/rotation"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// promotion is what became of a rotation, the zero value while there is none.
type promotion struct {
	// promoted describes the keys in use if staged ones have replaced the previous ones.
	promoted string
	// rejected says which staged keys were discarded, and why.
	rejected string
	// ignored is why it is unknown whether the staged keys are complete.
	ignored error
	// stuck is why finished keys are not promoted before somebody does something.
	stuck string
	// held is why finished keys are not promoted yet.
	held hold
}

// promote replaces the keys in use with staged ones that were derived from them, as soon
// as no token or credential loses its key by that.
func (f Family) promote(ctx context.Context, s *pass.Scope, current *corev1.Secret) (promotion, error) {
	lifetime, known := f.lifetime(s)
	if !known {
		return unknownLifetime(ctx, s, current)
	}
	use, err := keyUse(ctx, s, lifetime)
	if err != nil {
		return promotion{}, err
	}
	r := stagedRotation{current: current, use: use}
	r.history = historyOf(current).Observe(current.Data, s.Now(), use)
	if err := remember(ctx, s, &r); err != nil {
		return promotion{}, err
	}
	staging, err := s.Owned.Find(ctx, s.Key(stagingName(current.Name)))
	if err != nil {
		return promotion{}, err
	}
	// A staging Secret with another owner is reported by the step that ensures it.
	if staging == nil || !metav1.IsControlledBy(staging, s.Resource) {
		s.Own.Lifetimes.Held.Unset(client.ObjectKeyFromObject(s.Resource), f.metric)
		return promotion{}, nil
	}
	r.staging = staging
	_, finished, err := rotation.CompletedAt(staging)
	switch {
	case err != nil:
		return promotion{ignored: err}, nil
	case !finished:
		s.Own.Lifetimes.Held.Unset(client.ObjectKeyFromObject(s.Resource), f.metric)
		if len(staging.Data) > 0 {
			log.FromContext(ctx).V(1).Info("Ignoring an unfinished rotation", "secret", staging.Name)
		}
		return promotion{}, nil
	case rotation.Applied(current, staging):
		return promotion{}, rotation.Discard(ctx, s.Client, staging)
	}
	return f.decide(ctx, s, r)
}

// unknownLifetime reports a finished rotation that cannot be promoted, because nobody knows
// when the tokens of the key that it removes expire. Keystone may be able to read a lifetime
// that the operator cannot, such as one that refers to another option. Without a
// configuration, which is reported elsewhere, nothing is known.
func unknownLifetime(ctx context.Context, s *pass.Scope, current *corev1.Secret) (promotion, error) {
	staging, err := s.Owned.Find(ctx, s.Key(stagingName(current.Name)))
	if err != nil || staging == nil || service.Config.Value(s.Slots).Options == nil || !metav1.IsControlledBy(staging, s.Resource) {
		return promotion{}, err
	}
	if _, finished, err := rotation.CompletedAt(staging); err != nil || !finished {
		return promotion{}, nil //nolint:nilerr // An invalid time is reported once the lifetime is known.
	}
	return promotion{stuck: "the option [token] expiration or allow_expired_window is no number of seconds, " +
		"so that nobody knows how long tokens need the key that the rotation removes; set it to a number"}, nil
}

// keyUse returns how the keys are used. Pods of an older configuration issue tokens with
// the lifetime in that configuration.
func keyUse(ctx context.Context, s *pass.Scope, lifetime time.Duration) (fernet.Use, error) {
	use := fernet.Use{Lifetime: lifetime, Propagation: s.Own.Propagation}
	if lifetime == 0 {
		return use, nil
	}
	pods, err := deployment.APIPods(ctx, s.Pass)
	current := func(volume corev1.Volume) bool { return deployment.IsConfig(s.Pass, volume) }
	use.Mixed = slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return !slices.ContainsFunc(pod.Spec.Volumes, current) })
	return use, err
}

// remember records the history if the keys changed other than by a promotion.
func remember(ctx context.Context, s *pass.Scope, r *stagedRotation) error {
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

func (f Family) decide(ctx context.Context, s *pass.Scope, r stagedRotation) (promotion, error) {
	err := fernet.Validate(r.staging.Data, f.maxActive(s.Resource))
	if err == nil {
		err = fernet.ValidateSuccessor(r.current.Data, r.staging.Data)
	}
	switch {
	case errors.Is(err, fernet.ErrNotSuccessor) && r.accepted(s.Resource):
		return f.apply(ctx, s, r)
	case err != nil:
		return reject(ctx, s, r, err)
	}
	held := f.hold(s, r)
	if held.reason == "" {
		return f.apply(ctx, s, r)
	}
	if at, _, err := rotation.CompletedAt(r.staging); err == nil {
		s.Own.Lifetimes.Held.Set(client.ObjectKeyFromObject(s.Resource), f.metric, at)
	}
	return promotion{held: held}, nil
}

// reject empties the staging Secret, so that the next run of the CronJob starts from the
// keys in use.
func reject(ctx context.Context, s *pass.Scope, r stagedRotation, problem error) (promotion, error) {
	if err := rotation.Clear(ctx, s.Client, r.staging); err != nil {
		return promotion{}, err
	}
	advice := "the keys in use stay, and the next run of the CronJob generates new ones"
	if errors.Is(problem, fernet.ErrNotSuccessor) {
		advice = "the keys in use have changed since, and promoting these could remove keys that are needed; " + advice
		if acceptance := r.acceptance(); acceptance != "" {
			advice += "; to promote these anyway, at the cost of what only the keys in use can read, " +
				"annotate the Keystone with " + acceptance + " and stage them again"
		}
	}
	return promotion{rejected: fmt.Sprintf("Rejected the content of staging Secret %s: %s; %s", r.staging.Name, problem, advice)}, nil
}

// apply is a single write: keys, time and history change together or not at all. It fails
// with a conflict if the Secret has changed since it was read.
func (f Family) apply(ctx context.Context, s *pass.Scope, r stagedRotation) (promotion, error) {
	next := r.current.DeepCopy()
	next.Data = r.staging.Data
	history := r.history.Observe(next.Data, s.Now(), r.use)
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, annotationKeyHistory, history.String())
	metav1.SetMetaDataAnnotation(&next.ObjectMeta, rotation.CompletedAtAnnotation,
		r.staging.Annotations[rotation.CompletedAtAnnotation])
	if err := apply.Update(ctx, s.Client, next, "promoting the rotated keys in"); err != nil {
		return promotion{}, err
	}
	f.Trust(s.Pass, next)
	f.reportAge(s, next)
	s.Own.Lifetimes.Held.Unset(client.ObjectKeyFromObject(s.Resource), f.metric)
	primary, _ := fernet.PrimaryName(next.Data)
	text := fmt.Sprintf("Secret %s holds rotated keys: %q is the primary one of %d", next.Name, primary, len(next.Data))
	return promotion{promoted: text}, rotation.Discard(ctx, s.Client, r.staging)
}
