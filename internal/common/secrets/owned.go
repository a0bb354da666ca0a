package secrets

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
)

// Owned maintains the Secrets of a resource.
type Owned struct {
	// Client writes, and reads the operator's own Secrets from the cache.
	Client client.Client
	// Live reads from the API server. It is used only for a Secret that exists
	// although the cache does not contain it.
	Live client.Reader
	// Scheme resolves owner references.
	Scheme *runtime.Scheme
}

// EnsureData gives the Secret exactly the given data, and the labels and the
// controller. It makes no request if nothing differs. It refuses a Secret of the
// same name that owner does not control.
func (o Owned) EnsureData(ctx context.Context, owner client.Object, desired *corev1.Secret) error {
	if err := controllerutil.SetControllerReference(owner, desired, o.Scheme); err != nil {
		return fmt.Errorf("setting the owner of Secret %s: %w", desired.Name, err)
	}
	live := &corev1.Secret{}
	err := o.Client.Get(ctx, client.ObjectKeyFromObject(desired), live)
	if apierrors.IsNotFound(err) {
		live, err = o.createOrFind(ctx, desired)
	}
	if err != nil || live == nil {
		return wrap("writing", desired, err)
	}
	if apply.IsPredecessors(desired, live) {
		return fmt.Errorf("secret %s: %w", desired.Name, apply.ErrPredecessor)
	}
	if err := refuseOthers(owner, live, desired); err != nil {
		return err
	}
	changed := live.DeepCopy()
	changed.Data = desired.Data
	if orphaned(live, desired) {
		changed.OwnerReferences = append(changed.OwnerReferences, desired.OwnerReferences...)
	}
	changed.Labels = merged(live.Labels, desired.Labels)
	if equality.Semantic.DeepEqual(live, changed) {
		return nil
	}
	return wrap("updating", desired, o.Client.Update(ctx, changed))
}

// EnsureOnce creates the Secret if it does not exist and never changes the data of
// an existing one, so that keys and passwords survive any failure of the operator.
// It returns the live Secret and whether it has just been created. An existing
// Secret without a controller, for example one restored from a backup, is adopted.
// One with another controller is refused. If its controller was deleted and owner
// has that object's kind and name, the error is ErrPredecessor: the Secret is about
// to be garbage collected.
func (o Owned) EnsureOnce(ctx context.Context, owner client.Object, desired *corev1.Secret) (*corev1.Secret, bool, error) {
	live, err := o.Find(ctx, client.ObjectKeyFromObject(desired))
	if err != nil {
		return nil, false, err
	}
	if live == nil {
		if err := controllerutil.SetControllerReference(owner, desired, o.Scheme); err != nil {
			return nil, false, fmt.Errorf("setting the owner of Secret %s: %w", desired.Name, err)
		}
		live, err = o.createOrFind(ctx, desired)
		if err != nil {
			return nil, false, wrap("creating", desired, err)
		}
		if live == nil {
			return desired, true, nil
		}
	}
	if o.isPredecessors(owner, live) {
		return nil, false, fmt.Errorf("secret %s: %w", live.Name, apply.ErrPredecessor)
	}
	return live, false, o.adopt(ctx, owner, live, desired.Labels)
}

// Find reads the named Secret from the cache, nil if it is not there.
func (o Owned) Find(ctx context.Context, key client.ObjectKey) (*corev1.Secret, error) {
	live := &corev1.Secret{}
	err := o.Client.Get(ctx, key, live)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, wrap("reading", &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: key.Name}}, err)
}

// createOrFind creates the Secret and returns nil. If it exists already, outside
// the label-limited cache, createOrFind returns the existing one.
func (o Owned) createOrFind(ctx context.Context, desired *corev1.Secret) (*corev1.Secret, error) {
	err := o.Client.Create(ctx, desired)
	if !apierrors.IsAlreadyExists(err) {
		return nil, err
	}
	live := &corev1.Secret{}
	return live, o.Live.Get(ctx, client.ObjectKeyFromObject(desired), live)
}

func (o Owned) adopt(ctx context.Context, owner client.Object, live *corev1.Secret, wanted map[string]string) error {
	changed := live.DeepCopy()
	changed.Labels = merged(live.Labels, wanted)
	if err := controllerutil.SetControllerReference(owner, changed, o.Scheme); err != nil {
		return fmt.Errorf("secret %s cannot be used, rename or delete it: %w: %w", live.Name, err, apply.ErrNotOwned)
	}
	if equality.Semantic.DeepEqual(live, changed) {
		return nil
	}
	return wrap("adopting", live, o.Client.Update(ctx, changed))
}

func (o Owned) isPredecessors(owner client.Object, live *corev1.Secret) bool {
	ours := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: live.Namespace}}
	return controllerutil.SetControllerReference(owner, ours, o.Scheme) == nil && apply.IsPredecessors(ours, live)
}

// RefuseOthers returns an error that wraps apply.ErrNotOwned if a Secret of that
// name exists that owner does not control and whose labels do not identify it as
// ours either. It reads from the API server.
func (o Owned) RefuseOthers(ctx context.Context, owner client.Object, desired *corev1.Secret) error {
	live, err := o.FindLive(ctx, client.ObjectKeyFromObject(desired))
	if live == nil || err != nil || o.isPredecessors(owner, live) {
		return err
	}
	return refuseOthers(owner, live, desired)
}

func refuseOthers(owner client.Object, live, desired *corev1.Secret) error {
	if metav1.IsControlledBy(live, owner) || orphaned(live, desired) {
		return nil
	}
	return fmt.Errorf("a Secret named %s already exists that this resource does not control; rename or delete it: %w",
		desired.Name, apply.ErrNotOwned)
}

// orphaned reports whether live, according to its labels, is one of ours that has
// lost its controller.
func orphaned(live, desired *corev1.Secret) bool {
	return metav1.GetControllerOf(live) == nil && labels.SelectorFromSet(desired.Labels).Matches(labels.Set(live.Labels))
}

func merged(existing, wanted map[string]string) map[string]string {
	result := maps.Clone(existing)
	if result == nil {
		result = map[string]string{}
	}
	maps.Copy(result, wanted)
	return result
}

func wrap(verb string, secret *corev1.Secret, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s Secret %s: %w", verb, secret.Name, err)
}
