package secrets

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
)

// PushSecretGVK is the kind of the objects that make External Secrets copy a Secret to the
// store.
var PushSecretGVK = esov1alpha1.SchemeGroupVersion.WithKind(esov1alpha1.PushSecretKind)

// NewPush returns a PushSecret that copies what matches of the source to [StoreName]. It is
// pushed again after the interval; zero means only on a change of the PushSecret.
func NewPush(
	meta metav1.ObjectMeta, source string, policy esov1alpha1.PushSecretDeletionPolicy, interval time.Duration,
	match esov1alpha1.PushSecretMatch,
) *esov1alpha1.PushSecret {
	return &esov1alpha1.PushSecret{
		ObjectMeta: meta,
		Spec: esov1alpha1.PushSecretSpec{
			DeletionPolicy:  policy,
			RefreshInterval: &metav1.Duration{Duration: interval},
			SecretStoreRefs: []esov1alpha1.PushSecretStoreRef{{Name: StoreName, Kind: esov1.ClusterSecretStoreKind}},
			Selector:        esov1alpha1.PushSecretSelector{Secret: &esov1alpha1.PushSecretSecret{Name: source}},
			// The default is set explicitly because the list is applied as a whole.
			Data: []esov1alpha1.PushSecretData{{Match: match, ConversionStrategy: esov1alpha1.PushSecretConversionNone}},
		},
	}
}

// ContentHashAnnotation on a PushSecret changes with the content of its source.
// External Secrets does not watch the source, so the change makes it push at once.
const ContentHashAnnotation = "forge.c5c3.io/content-hash"

// pushedBeforeAnnotation on a PushSecret records which version External Secrets had
// pushed when the content last changed: for a while its status still describes that
// push.
const pushedBeforeAnnotation = "forge.c5c3.io/pushed-before"

// PushSecretFinalizer is the finalizer that External Secrets sets on a PushSecret
// whose copy in the store it will remove. Without it the PushSecret has not been
// processed yet.
const PushSecretFinalizer = "pushsecret.externalsecrets.io/finalizer"

// EnsurePushSecret applies the PushSecret and leaves the live object in ps.
// External Secrets pushes again only when the object changes: one of its
// annotations has to change with the content, as [ContentHashAnnotation] does.
//
// The PushSecret does not block the deletion of its owner, unless the caller has set an owner
// that it blocks: a foreground deletion would wait without limit for a store that does not
// answer.
func EnsurePushSecret(
	ctx context.Context, c client.Client, scheme *runtime.Scheme, owner client.Object, ps *esov1alpha1.PushSecret, fieldManager string,
) error {
	live := &esov1alpha1.PushSecret{}
	if err := c.Get(ctx, client.ObjectKeyFromObject(ps), live); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading PushSecret %s: %w", ps.Name, err)
	}
	if !metav1.IsControlledBy(ps, owner) {
		if err := controllerutil.SetControllerReference(owner, ps, scheme, controllerutil.WithBlockOwnerDeletion(false)); err != nil {
			return fmt.Errorf("setting the owner of PushSecret %s: %w", ps.Name, err)
		}
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

// Keep gives the PushSecret two owners: owner, and the source of its copy. In a foreground
// deletion of owner, the garbage collector then takes away the reference to owner instead of
// deleting the PushSecret, and with it the copy, before the finalizers of owner can decide
// whether the copy stays.
func Keep(scheme *runtime.Scheme, owner client.Object, source *corev1.Secret, ps *esov1alpha1.PushSecret) error {
	if err := controllerutil.SetControllerReference(owner, ps, scheme); err != nil {
		return fmt.Errorf("setting the owner of PushSecret %s: %w", ps.Name, err)
	}
	if err := controllerutil.SetOwnerReference(source, ps, scheme); err != nil {
		return fmt.Errorf("setting the owner of PushSecret %s: %w", ps.Name, err)
	}
	return nil
}

// pushAgainAnnotation on a PushSecret is the time at which a push of unchanged
// content was last requested.
const pushAgainAnnotation = "forge.c5c3.io/push-again"

// RepeatPush requests another push of the same content when the last push is at
// least period ago, because the store may have lost it since. It is called before
// the PushSecret ps is applied; live is the existing one, or nil. It returns when
// the next push is due, or the zero time if there has not been a first push.
//
// External Secrets could repeat pushes by itself, but would then also push content
// that the operator has not checked.
func RepeatPush(ps, live *esov1alpha1.PushSecret, now time.Time, period time.Duration) time.Time {
	if live == nil || live.Status.RefreshTime.IsZero() {
		return time.Time{}
	}
	last := live.Status.RefreshTime.Time
	// If the clock of External Secrets lags, its refresh time alone would request a
	// push in every pass.
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

// ContentHash returns a short hash of the Secret's data. It differs between Secrets
// with the same data, and reveals nothing about data that cannot be guessed.
func ContentHash(secret *corev1.Secret) string { return hashOfData(secret.UID, secret.Data) }

// KeyedHash returns a hash of text in hexadecimal digits, keyed with the UID of a
// Secret. Without read access to that Secret the text can neither be recovered nor
// guessed by trial.
func KeyedHash(secret types.UID, text string) string {
	hash := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(hash, text)
	return hex.EncodeToString(hash.Sum(nil))
}

// PushState is the state of a PushSecret as External Secrets last reported it. The
// zero value means that it has not been processed yet.
type PushState struct {
	// Synced reports whether the last push succeeded.
	Synced bool
	// Message is External Secrets' own explanation in one line of at most 500
	// bytes.
	Message string
}

// Failed reports whether the last push failed.
func (s PushState) Failed() bool { return !s.Synced && s.Message != "" }

// PushStateOf reads the Ready condition, and ignores it if it concerns earlier
// content.
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
		message := cmp.Or(strings.Join(strings.Fields(condition.Message), " "), condition.Reason)
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
