package secrets

import (
	"context"
	"errors"
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
	// APIReader reads from the API server. It is used only for a Secret that exists
	// although the cache does not contain it.
	APIReader client.Reader
	// Scheme resolves owner references.
	Scheme *runtime.Scheme
}

// EnsureData gives the Secret exactly the given data, and the labels, annotations and the
// controller. It makes no request if nothing differs. It refuses a Secret of the
// same name that owner does not control.
func (o Owned) EnsureData(ctx context.Context, owner client.Object, desired *corev1.Secret) error {
	live, err := o.findOrCreate(ctx, owner, desired)
	if live == nil || err != nil {
		return err
	}
	changed := live.DeepCopy()
	changed.Data = desired.Data
	if metav1.GetControllerOf(live) == nil {
		changed.OwnerReferences = append(changed.OwnerReferences, desired.OwnerReferences...)
	}
	changed.Labels = merged(live.Labels, desired.Labels)
	if len(desired.Annotations) > 0 {
		changed.Annotations = merged(live.Annotations, desired.Annotations)
	}
	if equality.Semantic.DeepEqual(live, changed) {
		return nil
	}
	return apply.Update(ctx, o.Client, changed, apply.Updating)
}

// findOrCreate returns the existing Secret, which must be one of ours, or creates it and
// returns nil.
func (o Owned) findOrCreate(ctx context.Context, owner client.Object, desired *corev1.Secret) (*corev1.Secret, error) {
	if err := controllerutil.SetControllerReference(owner, desired, o.Scheme); err != nil {
		return nil, fmt.Errorf("setting the owner of Secret %s: %w", desired.Name, err)
	}
	live, err := o.Find(ctx, client.ObjectKeyFromObject(desired))
	if live == nil && err == nil {
		live, err = o.createOrFind(ctx, desired)
	}
	if live == nil || err != nil {
		return nil, err
	}
	return live, o.refuseOthers(owner, live, desired.Labels)
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
			return nil, false, err
		}
		if live == nil {
			return desired, true, nil
		}
	}
	if apply.Classify(o.Scheme, owner, live) == apply.Predecessors {
		return nil, false, fmt.Errorf("secret %s: %w", live.Name, apply.ErrPredecessor)
	}
	return live, false, o.adopt(ctx, owner, live, desired.Labels)
}

// Find reads the named Secret from the cache, nil if it is not there. A Secret that is too
// large for the cache is read from the API server.
func (o Owned) Find(ctx context.Context, key client.ObjectKey) (*corev1.Secret, error) {
	found, err := apply.Find(ctx, o.Client, key, &corev1.Secret{})
	if found != nil && omitted(found) {
		return o.FindUncached(ctx, key)
	}
	return found, err
}

// FindUncached reads the named Secret from the API server, nil if it does not exist.
// Unlike the cache, it also finds Secrets without the operator's label.
func (o Owned) FindUncached(ctx context.Context, key client.ObjectKey) (*corev1.Secret, error) {
	return apply.Find(ctx, o.APIReader, key, &corev1.Secret{})
}

// createOrFind creates the Secret and returns nil. If it exists already, outside
// the label-limited cache, createOrFind returns the existing one.
func (o Owned) createOrFind(ctx context.Context, desired *corev1.Secret) (*corev1.Secret, error) {
	taken := apply.Create(ctx, o.Client, desired)
	if !apierrors.IsAlreadyExists(taken) {
		return nil, taken
	}
	live, err := o.FindUncached(ctx, client.ObjectKeyFromObject(desired))
	if live == nil && err == nil {
		// It was deleted in between: the next pass finds the name free.
		return nil, taken
	}
	return live, err
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
	return apply.Update(ctx, o.Client, changed, "adopting")
}

// RefuseOthers returns an error that wraps apply.ErrNotOwned if a Secret of that
// name exists that owner does not control and whose labels do not identify it as
// ours either. It reads from the API server.
func (o Owned) RefuseOthers(ctx context.Context, owner client.Object, desired *corev1.Secret) error {
	live, err := o.FindUncached(ctx, client.ObjectKeyFromObject(desired))
	if live == nil || err != nil {
		return err
	}
	if err := o.refuseOthers(owner, live, desired.Labels); !errors.Is(err, apply.ErrPredecessor) {
		return err
	}
	return nil
}

// refuseOthers accepts a Secret that owner controls, or that has lost its controller and
// is one of ours according to its labels.
func (o Owned) refuseOthers(owner client.Object, live *corev1.Secret, ours map[string]string) error {
	switch ownership := apply.Classify(o.Scheme, owner, live); {
	case ownership == apply.Ours,
		ownership == apply.Orphan && labels.SelectorFromSet(ours).Matches(labels.Set(live.Labels)):
		return nil
	case ownership == apply.Predecessors:
		return fmt.Errorf("secret %s: %w", live.Name, apply.ErrPredecessor)
	}
	return fmt.Errorf("a Secret named %s already exists that this resource does not control; rename or delete it: %w",
		live.Name, apply.ErrNotOwned)
}

func merged(existing, wanted map[string]string) map[string]string {
	result := maps.Clone(existing)
	if result == nil {
		result = map[string]string{}
	}
	maps.Copy(result, wanted)
	return result
}
