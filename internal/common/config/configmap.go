package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
)

// BaseLabel groups the immutable ConfigMaps that share a base name; its value is
// the BaseLabelValue of that name.
const BaseLabel = "forge.c5c3.io/config-base"

const hashLength = 8

// ContentHash returns the first 8 hexadecimal digits of the SHA-256 of the data.
// Lengths are hashed as well, so moving bytes between a key and its value, or
// between entries, changes the hash.
func ContentHash(data map[string]string) string { return contentDigest(data)[:hashLength] }

func contentDigest(data map[string]string) string {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		// Writing to a hash cannot fail.
		_, _ = fmt.Fprintf(hash, "%d:%s=%d:%s\n", len(key), key, len(data[key]), data[key])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// digestKey is a name that no key of a ConfigMap can have.
const digestKey = "/digest"

// Condense prepares a ConfigMap for the cache that CreateImmutableConfigMap reads: it leaves
// a digest of the data, and nothing else that can be large. Whoever may create ConfigMaps
// can give them an operator's label, and otherwise fill its memory.
func Condense(configMap *corev1.ConfigMap) {
	if _, before := configMap.Data[digestKey]; !before {
		configMap.Data = map[string]string{digestKey: contentDigest(configMap.Data)}
	}
	configMap.BinaryData, configMap.Annotations = nil, nil
}

// holds reports whether the ConfigMap, condensed or not, has the data.
func holds(configMap *corev1.ConfigMap, data map[string]string) bool {
	if digest, condensed := configMap.Data[digestKey]; condensed {
		return digest == contentDigest(data)
	}
	return maps.Equal(configMap.Data, data)
}

// BaseLabelValue returns the base name if it fits in a label value. Otherwise it
// returns a prefix of the name with a hash of the full name, 63 characters in
// total.
func BaseLabelValue(base string) string {
	if len(base) <= validation.LabelValueMaxLength {
		return base
	}
	sum := sha256.Sum256([]byte(base))
	suffix := "-" + hex.EncodeToString(sum[:])[:hashLength]
	return base[:validation.LabelValueMaxLength-len(suffix)] + suffix
}

// ImmutableConfigMap returns the immutable ConfigMap with the data in the owner's
// namespace. Its name consists of the base name and the content hash, so that
// changed data results in a new object and changes the pod template that refers to
// it. BaseLabel is added to the labels. CreateImmutableConfigMap sets the owner
// reference, because that needs a scheme.
func ImmutableConfigMap(owner client.Object, base string, labels, data map[string]string) *corev1.ConfigMap {
	all := maps.Clone(labels)
	if all == nil {
		all = map[string]string{}
	}
	all[BaseLabel] = BaseLabelValue(base)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:      base + "-" + ContentHash(data),
			Namespace: owner.GetNamespace(),
			Labels:    all,
		},
		Immutable: ptr.To(true),
		Data:      maps.Clone(data),
	}
}

// CreateImmutableConfigMap makes sure that the ConfigMap of ImmutableConfigMap
// exists in the namespace, controlled by owner, and returns its name. It reads
// through c; if that has a cache, no request is made once the object exists.
//
// If the name is taken, CreateImmutableConfigMap reads the existing object from
// live, which must not be cached. An object that owner controls is accepted:
// missing labels are restored, and content that does not match the name is
// replaced. An object of a deleted owner of the same kind and name that has not
// been garbage collected yet is replaced as well. Any other object is left alone
// and named in the error.
func CreateImmutableConfigMap(
	ctx context.Context,
	c client.Client,
	live client.Reader,
	scheme *runtime.Scheme,
	owner client.Object,
	baseName, namespace string,
	labels, data map[string]string,
) (name string, err error) {
	desired := ImmutableConfigMap(owner, baseName, labels, data)
	desired.Namespace = namespace
	if err := controllerutil.SetControllerReference(owner, desired, scheme); err != nil {
		return "", fmt.Errorf("setting the owner of ConfigMap %s/%s: %w", namespace, desired.Name, err)
	}
	creator := configMapCreator{client: c, live: live, scheme: scheme, owner: owner, desired: desired}
	if err := creator.ensure(ctx); err != nil {
		return "", err
	}
	return desired.Name, nil
}

// configMapCreator creates one ConfigMap or verifies the existing one.
type configMapCreator struct {
	client  client.Client
	live    client.Reader
	scheme  *runtime.Scheme
	owner   client.Object
	desired *corev1.ConfigMap
}

func (r configMapCreator) ensure(ctx context.Context) error {
	existing, err := apply.Find(ctx, r.client, client.ObjectKeyFromObject(r.desired), &corev1.ConfigMap{})
	switch {
	case err != nil:
		return err
	case existing != nil && r.isOurs(existing) && r.isIntact(existing):
		return r.restoreMetadata(ctx, existing)
	}
	err = r.create(ctx)
	if apierrors.IsAlreadyExists(err) {
		return r.resolve(ctx)
	}
	return err
}

// resolve handles an existing object of the same name.
func (r configMapCreator) resolve(ctx context.Context) error {
	existing, err := apply.Find(ctx, r.live, client.ObjectKeyFromObject(r.desired), &corev1.ConfigMap{})
	switch {
	case err != nil:
		return err
	case existing == nil:
		return r.create(ctx)
	case r.isOurs(existing) && r.isIntact(existing):
		return r.restoreMetadata(ctx, existing)
	case r.isOurs(existing), apply.Classify(r.scheme, r.owner, existing) == apply.Predecessors:
		return r.replace(ctx, existing)
	}
	return fmt.Errorf("ConfigMap %s exists and is controlled by %s, not by %s: delete it or rename it: %w",
		client.ObjectKeyFromObject(existing), controllerName(existing), controllerName(r.desired), apply.ErrNotOwned)
}

func (r configMapCreator) create(ctx context.Context) error {
	return apply.Create(ctx, r.client, r.desired.DeepCopy())
}

func (r configMapCreator) replace(ctx context.Context, existing *corev1.ConfigMap) error {
	// The cache may never have contained the object; waiting for it to see the
	// deletion would be in vain.
	if err := apply.Delete(ctx, r.client, existing, client.DisableReadYourWritesConsistency); err != nil {
		return err
	}
	return r.create(ctx)
}

// restoreMetadata restores labels and an owner reference that were removed.
func (r configMapCreator) restoreMetadata(ctx context.Context, existing *corev1.ConfigMap) error {
	patched := existing.DeepCopy()
	if metav1.GetControllerOf(existing) == nil {
		patched.OwnerReferences = append(patched.OwnerReferences, r.desired.OwnerReferences...)
	}
	if patched.Labels == nil {
		patched.Labels = map[string]string{}
	}
	maps.Copy(patched.Labels, r.desired.Labels)
	if maps.Equal(patched.Labels, existing.Labels) && len(patched.OwnerReferences) == len(existing.OwnerReferences) {
		return nil
	}
	return apply.MergeUnlocked(ctx, r.client, existing, patched, "restoring the metadata of")
}

// isOurs also accepts a ConfigMap that has lost its owner reference but is still
// labelled with the base name.
func (r configMapCreator) isOurs(existing *corev1.ConfigMap) bool {
	switch apply.Classify(r.scheme, r.owner, existing) {
	case apply.Ours:
		return true
	case apply.Orphan:
		return existing.Labels[BaseLabel] == r.desired.Labels[BaseLabel]
	}
	return false
}

// isIntact reports whether the content is unchanged. A forced replacement by hand
// keeps the owner reference and may change the content.
func (r configMapCreator) isIntact(existing *corev1.ConfigMap) bool {
	return existing.DeletionTimestamp == nil &&
		existing.Immutable != nil && *existing.Immutable &&
		len(existing.BinaryData) == 0 &&
		holds(existing, r.desired.Data)
}

func controllerName(obj metav1.Object) string {
	ref := metav1.GetControllerOf(obj)
	if ref == nil {
		return "nobody"
	}
	return ref.Kind + " " + ref.Name
}
