package secrets

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
)

// Claimed reports whether [Owned.Claim] would not change the Secret.
func Claimed(owner client.Object, live *corev1.Secret, wanted map[string]string, outlives bool) bool {
	switch {
	case !live.DeletionTimestamp.IsZero(), !labels.SelectorFromSet(wanted).Matches(labels.Set(live.Labels)):
		return false
	case outlives:
		return metav1.GetControllerOf(live) == nil
	}
	return metav1.IsControlledBy(live, owner)
}

// Claim gives an existing Secret the wanted labels and makes owner its controller.
// A Secret that outlives its owner gets no controller, so that it is never garbage
// collected; its labels identify the owner. The data is not changed.
//
// Claim accepts a Secret without a controller. It also accepts one whose controller
// is a deleted predecessor of owner, with the same kind and name: a backup tool has
// restored it. It refuses a Secret with another controller with apply.ErrNotOwned,
// and one that is being deleted with apply.ErrPredecessor. If the Secret has to be
// changed, judge may still refuse: Claim then returns its error and does not change
// the Secret. judge may be nil.
func (o Owned) Claim(
	ctx context.Context, owner client.Object, live *corev1.Secret, wanted map[string]string, outlives bool,
	judge func(*corev1.Secret) error,
) (*corev1.Secret, error) {
	if !live.DeletionTimestamp.IsZero() {
		return nil, fmt.Errorf("secret %s: %w", live.Name, apply.ErrPredecessor)
	}
	changed := live.DeepCopy()
	changed.Labels = merged(live.Labels, wanted)
	former := apply.Classify(o.Scheme, owner, live) == apply.Predecessors
	changed.OwnerReferences = slices.DeleteFunc(changed.OwnerReferences, func(reference metav1.OwnerReference) bool {
		controls := reference.Controller != nil && *reference.Controller
		return controls && (former || outlives && reference.UID == owner.GetUID())
	})
	if holder := metav1.GetControllerOf(changed); outlives && holder != nil {
		return nil, fmt.Errorf("secret %s is controlled by %s %s, rename or delete it: %w",
			live.Name, holder.Kind, holder.Name, apply.ErrNotOwned)
	}
	if !outlives {
		if err := controllerutil.SetControllerReference(owner, changed, o.Scheme); err != nil {
			return nil, fmt.Errorf("secret %s cannot be used, rename or delete it: %w: %w", live.Name, err, apply.ErrNotOwned)
		}
	}
	if equality.Semantic.DeepEqual(live, changed) {
		return live, nil
	}
	if judge != nil {
		if err := judge(live); err != nil {
			return nil, err
		}
	}
	return changed, apply.Update(ctx, o.Client, changed, "claiming")
}

// Create creates the Secret, controlled by owner unless it outlives owner. It is an
// error if the Secret exists.
func (o Owned) Create(ctx context.Context, owner client.Object, desired *corev1.Secret, outlives bool) error {
	if !outlives {
		if err := controllerutil.SetControllerReference(owner, desired, o.Scheme); err != nil {
			return fmt.Errorf("setting the owner of Secret %s: %w", desired.Name, err)
		}
	}
	return apply.Create(ctx, o.Client, desired)
}
