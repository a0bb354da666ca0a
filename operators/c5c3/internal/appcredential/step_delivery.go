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
	m := &manager{Pass: s, Held: Credential.Value(s.Slots)}
	// KORC is only True if both are set.
	id, secret := *m.applicationCredential.Status.ID, string(m.credential.Data[keyValue])
	if err := m.prove(id, secret); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCredentialUnproven, err)
	}
	pass.AdminCredential.Put(s.Slots, identity.Credential{ID: id, Secret: secret})
	if err := m.deliver(ctx, id, secret); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	again, err := m.revokeSuperseded(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonAdminCredentialReady, fmt.Sprintf("Secret %s has the application credential in use",
		m.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName)).After(again)
}

// deliver has the users get the credential, and returns an error until they have it.
func (m *manager) deliver(ctx context.Context, id, secret string) error {
	text, err := clouds.Credential(controlplane.AuthURL(m.CP), m.CP, id, secret)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, m.credential.Data[clouds.Key]) {
		if err := m.storeCredential(ctx, map[string][]byte{keyValue: m.credential.Data[keyValue], clouds.Key: text}); err != nil {
			return reconcile.WithReason(c5c3v1alpha1.ReasonSecretError, err)
		}
		if err := m.pushCredential(ctx); err != nil {
			return reconcile.WithReason(c5c3v1alpha1.ReasonPushSecretError, err)
		}
	}
	return m.awaitDelivery(ctx, text)
}

// prove verifies the credential with a login: K-ORC reports a credential as available
// even if it has another secret.
func (m *manager) prove(id, secret string) error {
	verdict, err := m.Proofs.Verdict(m.Name, controlplane.AuthURL(m.CP), id, secret)
	switch {
	case verdict == identity.Accepted, errors.Is(err, identity.ErrAsking) && m.wasProven(id):
		return nil
	case verdict == identity.Rejected:
		m.Proofs.Announce(m.Name, id, secret)
		return reconcile.WaitError(c5c3v1alpha1.ReasonCredentialRejected, fmt.Sprintf(
			"Keystone rejects the application credential %s; a new one is created", id)).After(m.RetryPeriod).AtOnce()
	case errors.Is(err, identity.ErrAsking):
		return reconcile.WaitError("", "Checking whether Keystone accepts the application credential "+id).After(identity.Timeout)
	}
	return reconcile.WaitError("", fmt.Sprintf(
		"It is not known whether Keystone accepts the application credential: %v; let the operator reach %s", err, controlplane.AuthURL(m.CP))).
		After(m.Proofs.Pause())
}

// wasProven reports whether the last verification succeeded: a restart of the operator
// does not change that.
func (m *manager) wasProven(id string) bool {
	known := m.CP.Status.AdminApplicationCredential
	return known != nil && known.ID == id &&
		meta.IsStatusConditionTrue(m.CP.Status.Conditions, c5c3v1alpha1.ConditionAdminCredentialReady)
}

// awaitDelivery returns an error until the users have the credential. A correct
// clouds.yaml counts, even while the store behind it is unreachable.
func (m *manager) awaitDelivery(ctx context.Context, text []byte) error {
	now, err := m.deliveredClouds(ctx)
	if err != nil {
		return err
	}
	wantID, wantSecret := clouds.CredentialIn(text)
	if id, value := clouds.CredentialIn(now); id == wantID && value == wantSecret {
		return nil
	}
	at, err := m.whereInTransit(ctx)
	if err == nil && at.fetched {
		err = m.replaceStale(ctx)
	}
	if err != nil {
		return err
	}
	return m.inTransit(at)
}

// replaceStale has the credential pushed again if the users got another one from the
// store long after it was pushed: the store may have been restored from a backup.
func (m *manager) replaceStale(ctx context.Context) error {
	secret := &corev1.Secret{}
	err := m.Refs.Get(ctx, pass.Key(m.Pass, m.delivery.Name), secret)
	if err != nil || m.Now().Sub(m.CP.Status.AdminApplicationCredential.LastRotation.Time) < m.SpreadTime {
		return client.IgnoreNotFound(err)
	}
	if m.push.Annotations[annotationPushedFor] == secret.ResourceVersion {
		return nil
	}
	before := m.push.DeepCopy()
	metav1.SetMetaDataAnnotation(&m.push.ObjectMeta, annotationPushedFor, secret.ResourceVersion)
	return apply.MergeUnlocked(ctx, m.ThirdParty, before, m.push, "requesting another push of")
}

// inTransit is the error of a wait, with a separate reason once it takes too long.
func (m *manager) inTransit(at transit) error {
	since := m.CP.Status.AdminApplicationCredential.LastRotation.Time
	if m.Now().Sub(since) >= syncStuckTimeout {
		return reconcile.WaitError(c5c3v1alpha1.ReasonCloudsYamlSyncStuck, fmt.Sprintf(
			"The application credential has not reached its users for %s: %s", syncStuckTimeout, at.message))
	}
	return reconcile.WaitError(at.reason, at.message).After(time.Minute)
}

// revokeSuperseded revokes credentials that the users no longer need, and returns the
// requeue delay.
func (m *manager) revokeSuperseded(ctx context.Context) (time.Duration, error) {
	superseded, err := Superseded(ctx, m.Pass)
	again := m.Proofs.Due()
	for _, old := range superseded {
		wait, err := korc.Revoke(ctx, m.Pass, old)
		if err != nil {
			return 0, err
		}
		again = reconcile.Sooner(again, wait)
	}
	return again, err
}
