package secrets

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
)

// EnsurePresent makes sure that the Secret exists with the labels of desired and is
// controlled by owner. Another component writes the data, which is never changed
// here. Unlike EnsureOnce, EnsurePresent adopts only a Secret that its labels
// identify as ours, because nothing outside this resource may write it.
func (o Owned) EnsurePresent(ctx context.Context, owner client.Object, desired *corev1.Secret) error {
	live, err := o.Find(ctx, client.ObjectKeyFromObject(desired))
	if err != nil {
		return err
	}
	if err := controllerutil.SetControllerReference(owner, desired, o.Scheme); err != nil {
		return fmt.Errorf("setting the owner of Secret %s: %w", desired.Name, err)
	}
	if live == nil {
		live, err = o.createOrFind(ctx, desired)
		// The conflicting object may have been deleted by now; a later pass creates
		// the Secret.
		if live == nil || apierrors.IsNotFound(err) {
			return wrap("creating", desired, err)
		}
	}
	if err != nil {
		return wrap("creating", desired, err)
	}
	if apply.IsPredecessors(desired, live) {
		return fmt.Errorf("secret %s: %w", desired.Name, apply.ErrPredecessor)
	}
	if err := refuseOthers(owner, live, desired); err != nil {
		return err
	}
	return o.adopt(ctx, owner, live, desired.Labels)
}
