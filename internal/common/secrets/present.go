package secrets

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
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
	}
	if live == nil || err != nil {
		return err
	}
	if err := o.refuseOthers(owner, live, desired.Labels); err != nil {
		return err
	}
	return o.adopt(ctx, owner, live, desired.Labels)
}
