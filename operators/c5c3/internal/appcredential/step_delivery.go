package appcredential

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// syncStuckTimeout is how long a new credential may be in transit through the secret
// store.
const syncStuckTimeout = 15 * time.Minute

// ReconcileDelivery delivers the application credential to its users once Keystone has
// accepted it, and then revokes the one that it replaces.
func ReconcileDelivery(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if s.CP.Spec.Services.Keystone == nil {
		return pass.NoKeystone()
	}
	d := &delivery{Credential.Value(s.Slots)}
	// KORC is only True if both are set.
	id, secret := *d.credential.Status.ID, string(d.secret.object.Data[keyValue])
	if err := d.prove(id, secret); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCredentialUnproven, err)
	}
	pass.AdminCredential.Put(s.Slots, identity.Credential{ID: id, Secret: secret})
	if err := d.deliver(ctx, id, secret); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	again, err := d.revokeSuperseded(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonAdminCredentialReady, fmt.Sprintf("Secret %s has the application credential in use",
		d.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName)).After(again)
}

// delivery delivers the application credential to its users.
type delivery struct{ Held }

// deliver has the users get the credential, and returns an error until they have it.
func (d *delivery) deliver(ctx context.Context, id, secret string) error {
	text, err := clouds.Credential(controlplane.AuthURL(d.CP), d.CP, id, secret)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, d.secret.object.Data[clouds.Key]) {
		if err := d.secret.store(ctx, map[string][]byte{keyValue: d.secret.object.Data[keyValue], clouds.Key: text}); err != nil {
			return reconcile.WithReason(c5c3v1alpha1.ReasonSecretError, err)
		}
		if err := d.secret.keepPush(ctx); err != nil {
			return reconcile.WithReason(c5c3v1alpha1.ReasonPushSecretError, err)
		}
	}
	return d.awaitDelivery(ctx, text)
}

// prove verifies the credential with a login: K-ORC reports a credential as available
// even if it has another secret.
func (d *delivery) prove(id, secret string) error {
	verdict, err := d.Proofs.Verdict(d.NamespacedName, controlplane.AuthURL(d.CP), id, secret, d.wasProven(id))
	switch {
	case verdict == ask.Accepted:
		return nil
	case verdict == ask.Rejected:
		d.Proofs.Announce(d.NamespacedName, id, secret)
		return reconcile.WaitError(c5c3v1alpha1.ReasonCredentialRejected, fmt.Sprintf(
			"Keystone rejects the application credential %s; a new one is created", id)).After(d.RetryPeriod)
	case errors.Is(err, identity.ErrAsking):
		return reconcile.WaitError("", "Checking whether Keystone accepts the application credential "+id).After(identity.Timeout)
	}
	return reconcile.WaitError("", fmt.Sprintf(
		"It is not known whether Keystone accepts the application credential: %v; let the operator reach %s", err, controlplane.AuthURL(d.CP))).
		After(d.Proofs.Pause())
}

// wasProven reports whether the last verification succeeded: a restart of the operator
// does not change that.
func (d *delivery) wasProven(id string) bool {
	known := d.CP.Status.AdminApplicationCredential
	return known != nil && known.ID == id &&
		meta.IsStatusConditionTrue(d.CP.Status.Conditions, c5c3v1alpha1.ConditionAdminCredentialReady)
}

// awaitDelivery returns an error until the users have the credential. A correct
// clouds.yaml counts, even while the store behind it is unreachable.
func (d *delivery) awaitDelivery(ctx context.Context, text []byte) error {
	now, err := d.secret.deliveredClouds(ctx)
	if err != nil {
		return err
	}
	wantID, wantSecret := clouds.CredentialIn(text)
	if id, value := clouds.CredentialIn(now); id == wantID && value == wantSecret {
		return nil
	}
	at, err := whereInTransit(ctx, d.secret)
	if err == nil && at.fetched {
		err = d.replaceStale(ctx)
	}
	if err != nil {
		return err
	}
	return d.inTransit(at)
}

// replaceStale has the credential pushed again if the users got another one from the
// store long after it was pushed: the store may have been restored from a backup.
func (d *delivery) replaceStale(ctx context.Context) error {
	secret := &corev1.Secret{}
	err := d.Refs.Get(ctx, pass.Key(d.Pass, d.secret.delivery.Name), secret)
	if err != nil || d.Now().Sub(d.CP.Status.AdminApplicationCredential.LastRotation.Time) < d.SpreadTime {
		return client.IgnoreNotFound(err)
	}
	if d.secret.push.Annotations[annotationPushedFor] == secret.ResourceVersion {
		return nil
	}
	before := d.secret.push.DeepCopy()
	metav1.SetMetaDataAnnotation(&d.secret.push.ObjectMeta, annotationPushedFor, secret.ResourceVersion)
	return apply.MergeUnlocked(ctx, d.ThirdParty, before, d.secret.push, "requesting another push of")
}

// inTransit is the error of a wait, with a separate reason once it takes too long.
func (d *delivery) inTransit(at transit) error {
	since := d.CP.Status.AdminApplicationCredential.LastRotation.Time
	if d.Now().Sub(since) >= syncStuckTimeout {
		return reconcile.WaitError(c5c3v1alpha1.ReasonCloudsYamlSyncStuck, fmt.Sprintf(
			"The application credential has not reached its users for %s: %s", syncStuckTimeout, at.message))
	}
	return reconcile.WaitError(at.reason, at.message).After(time.Minute)
}

// revokeSuperseded revokes credentials that the users no longer need, and returns the
// requeue delay.
func (d *delivery) revokeSuperseded(ctx context.Context) (time.Duration, error) {
	superseded, err := Superseded(ctx, d.Pass)
	again := d.Proofs.Due()
	for _, old := range superseded {
		wait, err := korc.Revoke(ctx, d.Pass, old)
		if err != nil {
			return 0, err
		}
		again = reconcile.Sooner(again, wait)
	}
	return again, err
}
