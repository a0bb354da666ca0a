package secrets

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
)

// A Secret that cannot be made again has no controller: garbage collection would delete it
// before anything can keep it, for instance when a backup tool brings it back under the
// owner of former times, or when its owner is deleted in the foreground. Labels and
// annotations say what it belongs to, and a finalizer deletes it.

// Claimed reports whether [Owned.Claim] would not change the Secret.
func Claimed(live *corev1.Secret, wanted metav1.ObjectMeta) bool {
	return live.DeletionTimestamp.IsZero() && metav1.GetControllerOf(live) == nil &&
		contains(live.Labels, wanted.Labels) && contains(live.Annotations, wanted.Annotations)
}

// Claim gives an existing Secret that cannot be made again the wanted labels and
// annotations, and takes away its controller if that is owner, as in earlier versions, or
// a deleted predecessor of owner, with the same kind and name: a backup tool has restored
// it. found is what of live is kept, and may be live itself; what is not in it is removed.
//
// It refuses a Secret with another controller with apply.ErrNotOwned, and one that is
// being deleted with apply.ErrPredecessor. If the Secret has to be changed, judge may
// still refuse: Claim then returns its error and does not change the Secret. judge may be
// nil.
func (o Owned) Claim(
	ctx context.Context, owner client.Object, live, found *corev1.Secret, wanted metav1.ObjectMeta, judge func(*corev1.Secret) error,
) (*corev1.Secret, error) {
	if !live.DeletionTimestamp.IsZero() {
		return nil, fmt.Errorf("secret %s: %w", live.Name, apply.ErrPredecessor)
	}
	changed := found.DeepCopy()
	changed.Labels, changed.Annotations = merged(found.Labels, wanted.Labels), merged(found.Annotations, wanted.Annotations)
	switch apply.Classify(o.Scheme, owner, live) {
	case apply.Foreign:
		holder := metav1.GetControllerOf(live)
		return nil, fmt.Errorf("secret %s is controlled by %s %s, rename or delete it: %w",
			live.Name, holder.Kind, holder.Name, apply.ErrNotOwned)
	case apply.Ours, apply.Predecessors:
		changed.OwnerReferences = slices.DeleteFunc(changed.OwnerReferences, func(reference metav1.OwnerReference) bool {
			return reference.Controller != nil && *reference.Controller
		})
	}
	if equality.Semantic.DeepEqual(live, changed) {
		return live, nil
	}
	if judge != nil {
		if err := judge(found); err != nil {
			return nil, err
		}
	}
	return changed, apply.Update(ctx, o.Client, changed, "claiming")
}

// contains reports whether all wanted entries are there.
func contains(existing, wanted map[string]string) bool {
	return maps.Equal(merged(existing, wanted), merged(existing, nil))
}
