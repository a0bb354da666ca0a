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
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
)

// BaseLabel is the label that groups the immutable ConfigMaps with one base
// name; its value is BaseLabelValue of that name.
const BaseLabel = "forge.c5c3.io/config-base"

const hashLength = 8

// ContentHash returns the first 8 hexadecimal digits of the SHA-256 of the data.
// Lengths are part of what is hashed, so moving bytes between a key and its
// value, or between entries, changes the hash.
func ContentHash(data map[string]string) string { return contentDigest(data)[:hashLength] }

func contentDigest(data map[string]string) string {
	hash := sha256.New()
	for _, key := range slices.Sorted(maps.Keys(data)) {
		// A hash never fails to take bytes.
		_, _ = fmt.Fprintf(hash, "%d:%s=%d:%s\n", len(key), key, len(data[key]), data[key])
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// digestKey is a name that no key of a ConfigMap can have.
const digestKey = "/digest"

// Condense prepares a ConfigMap for the cache that CreateImmutableConfigMap reads: of the
// content of an immutable one of a base name it leaves a digest. Others stay as they are.
func Condense(configMap *corev1.ConfigMap) {
	if !ptr.Deref(configMap.Immutable, false) || configMap.Labels[BaseLabel] == "" {
		return
	}
	if _, before := configMap.Data[digestKey]; !before {
		configMap.Data = map[string]string{digestKey: contentDigest(configMap.Data)}
	}
}

// holds reports whether the ConfigMap, condensed or not, has the data.
func holds(configMap *corev1.ConfigMap, data map[string]string) bool {
	if digest, condensed := configMap.Data[digestKey]; condensed {
		return digest == contentDigest(data)
	}
	return maps.Equal(configMap.Data, data)
}

// BaseLabelValue returns the base name itself if it fits in a label value, and
// otherwise its beginning with a hash of the whole, at 63 characters.
func BaseLabelValue(base string) string {
	if len(base) <= validation.LabelValueMaxLength {
		return base
	}
	sum := sha256.Sum256([]byte(base))
	suffix := "-" + hex.EncodeToString(sum[:])[:hashLength]
	return base[:validation.LabelValueMaxLength-len(suffix)] + suffix
}

// ImmutableConfigMap builds the immutable ConfigMap that holds the data in the
// owner's namespace. Its name is the base name and the content hash, so that
// changed data is a new object and a pod template that refers to it changes
// too. BaseLabel is added to the given labels. The owner reference is missing:
// CreateImmutableConfigMap sets it, because that needs a scheme.
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
// exists in the namespace, with owner as its controller, and returns its name.
// It reads through c, whose cache makes the call free once the object is there.
//
// When the API server says that the name is taken, live, which must not be
// cached, tells by whom. An object that the owner controls is accepted; removed
// labels are put back, and other content than the name stands for is replaced.
// An object of an earlier owner of the same kind and name, which the garbage
// collector has not reached yet, is replaced as well. Anything else is left
// alone and gives an error that names it.
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
	ownerKind, err := apiutil.GVKForObject(owner, scheme)
	if err != nil {
		return "", fmt.Errorf("finding the kind of the owner of ConfigMap %s/%s: %w", namespace, desired.Name, err)
	}
	creator := configMapCreator{
		client: c, live: live, owner: owner, ownerKind: ownerKind.GroupKind(), desired: desired,
	}
	if err := creator.ensure(ctx); err != nil {
		return "", err
	}
	return desired.Name, nil
}

// configMapCreator brings one desired ConfigMap into being.
type configMapCreator struct {
	client    client.Client
	live      client.Reader
	owner     client.Object
	ownerKind schema.GroupKind
	desired   *corev1.ConfigMap
}

func (r configMapCreator) ensure(ctx context.Context) error {
	existing := &corev1.ConfigMap{}
	err := r.client.Get(ctx, client.ObjectKeyFromObject(r.desired), existing)
	if err == nil && r.isOurs(existing) && r.isIntact(existing) {
		return r.restoreMetadata(ctx, existing)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading ConfigMap %s: %w", r.key(), err)
	}
	err = r.create(ctx)
	if apierrors.IsAlreadyExists(err) {
		return r.resolve(ctx)
	}
	return err
}

// resolve decides about the object that holds the name already.
func (r configMapCreator) resolve(ctx context.Context) error {
	existing := &corev1.ConfigMap{}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(r.desired), existing)
	switch {
	case apierrors.IsNotFound(err):
		return r.create(ctx)
	case err != nil:
		return fmt.Errorf("reading ConfigMap %s, whose name is taken: %w", r.key(), err)
	case r.isOurs(existing) && r.isIntact(existing):
		return r.restoreMetadata(ctx, existing)
	case r.isOurs(existing), r.isPredecessors(existing):
		return r.replace(ctx, existing)
	}
	return fmt.Errorf("ConfigMap %s exists and is controlled by %s, not by %s %s: delete it or rename it: %w",
		r.key(), controllerName(existing), r.ownerKind.Kind, r.owner.GetName(), apply.ErrNotOwned)
}

func (r configMapCreator) create(ctx context.Context) error {
	if err := r.client.Create(ctx, r.desired.DeepCopy()); err != nil {
		return fmt.Errorf("creating ConfigMap %s: %w", r.key(), err)
	}
	return nil
}

// replace deletes with the UID as a precondition, so that it cannot hit an
// object that somebody created under the name in the meantime.
func (r configMapCreator) replace(ctx context.Context, existing *corev1.ConfigMap) error {
	// The cache may never have shown the object, and would then be waited for in
	// vain to show that it has gone.
	err := r.client.Delete(ctx, existing, client.Preconditions{UID: &existing.UID}, client.DisableReadYourWritesConsistency)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting ConfigMap %s, which has to be replaced: %w", r.key(), err)
	}
	return r.create(ctx)
}

// restoreMetadata puts back the labels and the owner reference that somebody
// took away.
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
	if err := r.client.Patch(ctx, patched, client.MergeFrom(existing)); err != nil {
		return fmt.Errorf("restoring the metadata of ConfigMap %s: %w", r.key(), err)
	}
	return nil
}

// isOurs is also true of a ConfigMap that has lost its owner reference and
// still says by its label which configuration it is.
func (r configMapCreator) isOurs(existing *corev1.ConfigMap) bool {
	orphaned := metav1.GetControllerOf(existing) == nil && existing.Labels[BaseLabel] == r.desired.Labels[BaseLabel]
	return orphaned || metav1.IsControlledBy(existing, r.owner)
}

// isIntact is false after a forced replacement by hand, which keeps the owner
// reference and may change the content.
func (r configMapCreator) isIntact(existing *corev1.ConfigMap) bool {
	return existing.DeletionTimestamp == nil &&
		existing.Immutable != nil && *existing.Immutable &&
		len(existing.BinaryData) == 0 &&
		holds(existing, r.desired.Data)
}

func (r configMapCreator) isPredecessors(existing *corev1.ConfigMap) bool {
	ref := metav1.GetControllerOf(existing)
	if ref == nil || ref.UID == r.owner.GetUID() || ref.Name != r.owner.GetName() {
		return false
	}
	return schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() == r.ownerKind
}

func (r configMapCreator) key() client.ObjectKey {
	return client.ObjectKeyFromObject(r.desired)
}

func controllerName(obj metav1.Object) string {
	ref := metav1.GetControllerOf(obj)
	if ref == nil {
		return "nobody"
	}
	return ref.Kind + " " + ref.Name
}
