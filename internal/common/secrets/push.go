package secrets

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
		if live.Annotations[name] != value {
			before = live.Status.SyncedResourceVersion
		}
	}
	if before != "" {
		metav1.SetMetaDataAnnotation(&ps.ObjectMeta, pushedBeforeAnnotation, before)
	}
	return apply.EnsureObject(ctx, c, scheme, owner, ps, fieldManager)
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
