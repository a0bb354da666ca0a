package secrets

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// EnsurePresent makes sure that the Secret exists with the labels of desired and is
// controlled by owner. Another component writes the data, which is never changed
// here. Unlike EnsureOnce, EnsurePresent adopts only a Secret that its labels
// identify as ours, because nothing outside this resource may write it.
func (o Owned) EnsurePresent(ctx context.Context, owner client.Object, desired *corev1.Secret) error {
	live, err := o.findOrCreate(ctx, owner, desired)
	if live == nil || err != nil {
		return err
	}
	return o.adopt(ctx, owner, live, desired.Labels)
}
