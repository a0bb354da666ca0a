package secrets

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
)

// ContentHashAnnotation on a PushSecret changes with the content of its source,
// so that External Secrets, which does not watch the source, pushes at once.
const ContentHashAnnotation = "forge.c5c3.io/content-hash"

// pushedBeforeAnnotation on a PushSecret is what External Secrets had pushed when
// the content changed last: its status goes on telling of that push for a while.
const pushedBeforeAnnotation = "forge.c5c3.io/pushed-before"

// PushSecretFinalizer is what External Secrets puts on a PushSecret whose copy
// in the store it will remove. One without it was not taken over yet.
const PushSecretFinalizer = "pushsecret.externalsecrets.io/finalizer"

// EnsurePushSecret makes the PushSecret carry the declared fields and leaves the
// live object in ps. External Secrets pushes again only when something about
// the object changes: one of its annotations has to change with the content, as
// [ContentHashAnnotation] does.
func EnsurePushSecret(
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, ps *esov1alpha1.PushSecret, fieldManager string,
) error {
	live := &esov1alpha1.PushSecret{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(ps), live); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading PushSecret %s: %w", ps.Name, err)
	}
	before := live.Annotations[pushedBeforeAnnotation]
	for name, value := range ps.Annotations {
		if name != pushAgainAnnotation && live.Annotations[name] != value {
			before = live.Status.SyncedResourceVersion
		}
	}
	if before != "" {
		metav1.SetMetaDataAnnotation(&ps.ObjectMeta, pushedBeforeAnnotation, before)
	}
	return apply.EnsureObject(ctx, c, scheme, owner, ps, fieldManager)
}

// pushAgainAnnotation on a PushSecret is when a push of unchanged content was asked
// for last.
const pushAgainAnnotation = "forge.c5c3.io/push-again"

// RepeatPush has External Secrets push the same content once more when the last
// push is as old as period, because the store may have lost it since. Before the
// PushSecret ps is applied, live is the one in the cluster, nil when there is none.
// It returns when the next push is due, the zero time when none is before the first
// one.
//
// External Secrets could repeat pushes by itself. It would then also push what
// nobody has checked.
func RepeatPush(ps, live *esov1alpha1.PushSecret, now time.Time, period time.Duration) time.Time {
	if live == nil || live.Status.RefreshTime.IsZero() {
		return time.Time{}
	}
	last := live.Status.RefreshTime.Time
	// A clock of External Secrets that lags must not make it push all the time.
	if asked, err := time.Parse(time.RFC3339, live.Annotations[pushAgainAnnotation]); err == nil {
		metav1.SetMetaDataAnnotation(&ps.ObjectMeta, pushAgainAnnotation, live.Annotations[pushAgainAnnotation])
		if asked.After(last) {
			last = asked
		}
	}
	if now.Sub(last) >= period {
		last = now
		metav1.SetMetaDataAnnotation(&ps.ObjectMeta, pushAgainAnnotation, now.UTC().Format(time.RFC3339))
	}
	return last.Add(period)
}

// ContentHash is a short hash of the Secret's data. It differs between Secrets
// with the same data, and tells nothing about data that cannot be guessed.
func ContentHash(secret *corev1.Secret) string {
	hash := hmac.New(sha256.New, []byte(secret.UID))
	for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
		value := secret.Data[key]
		// A hash never fails to take in more.
		_, _ = fmt.Fprintf(hash, "%d:%s=%d:%s\n", len(key), key, len(value), value)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}

// KeyedHash is a hash of text, in hexadecimal digits. Whoever does not know the UID of
// the Secret that it is keyed with, because they may not look at it, can neither
// reverse it nor try out what the text may be.
func KeyedHash(secret types.UID, text string) string {
	hash := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(hash, text)
	return hex.EncodeToString(hash.Sum(nil))
}

// PushState is what External Secrets last said about a PushSecret. The zero
// value is one it has not looked at yet.
type PushState struct {
	// Synced is true when the last push succeeded.
	Synced bool
	// Message is External Secrets' own explanation in one line of at most 500
	// bytes.
	Message string
}

// Failed reports whether the last push did not succeed.
func (s PushState) Failed() bool { return !s.Synced && s.Message != "" }

// PushStateOf reads the Ready condition, unless it is about earlier content.
func PushStateOf(ps *esov1alpha1.PushSecret) PushState {
	before := ps.Annotations[pushedBeforeAnnotation]
	outdated := before != "" && ps.Status.SyncedResourceVersion == before
	for _, condition := range ps.Status.Conditions {
		if condition.Type != esov1alpha1.PushSecretReady {
			continue
		}
		if outdated && condition.Status == corev1.ConditionTrue {
			return PushState{}
		}
		message := strings.Join(strings.Fields(condition.Message), " ")
		if message == "" {
			message = condition.Reason
		}
		return PushState{
			Synced:  condition.Status == corev1.ConditionTrue,
			Message: strings.ToValidUTF8(message[:min(len(message), 500)], ""),
		}
	}
	return PushState{}
}

// Adopted reports whether External Secrets will remove the copy in the store
// when the PushSecret is deleted.
func Adopted(ps *esov1alpha1.PushSecret) bool {
	return controllerutil.ContainsFinalizer(ps, PushSecretFinalizer)
}
