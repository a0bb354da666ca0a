package controller

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
)

const (
	// syncStuckTimeout is how long a new credential may be on its way through
	// the secret store.
	syncStuckTimeout = 15 * time.Minute
	// loginPeriod is how often a login is tried again that got no answer.
	loginPeriod = 10 * time.Second
)

// reconcileAdminCredential brings the application credential to its users, but
// not before Keystone has accepted it, and then revokes the one it replaces.
func reconcileAdminCredential(ctx context.Context, s *scope) reconcile.Outcome {
	if s.cp.Spec.Services.Keystone == nil {
		return noKeystone()
	}
	m := &manager{scope: s, held: heldCredential.Value(s.Slots)}
	// KORC is True only with both.
	id, secret := *m.applicationCredential.Status.ID, string(m.credential.Data[keyValue])
	if outcome, proven := m.prove(id, secret); !proven {
		return outcome
	}
	text, err := clouds.Credential(authURL(s.cp), s.cp, id, secret)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	if !bytes.Equal(text, m.credential.Data[clouds.Key]) {
		if err := m.storeCredential(ctx, map[string][]byte{keyValue: m.credential.Data[keyValue], clouds.Key: text}); err != nil {
			return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err)
		}
		if err := m.pushCredential(ctx); err != nil {
			return reconcile.WriteFailed(c5c3v1alpha1.ReasonPushSecretError, err)
		}
		if err := m.deliverClouds(ctx); err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
		}
	}
	if outcome, delivered := m.delivered(ctx, text); !delivered {
		return outcome
	}
	return m.revokeSuperseded(ctx)
}

// prove has somebody log in with the credential: K-ORC reports one as available
// also when its secret is another.
func (m *manager) prove(id, secret string) (outcome reconcile.Outcome, proven bool) {
	verdict, err := m.proofs.verdict(m.name(), authURL(m.cp), id, secret)
	switch {
	case verdict == Accepted, errors.Is(err, errAsking) && m.wasProven(id):
		return reconcile.Outcome{}, true
	case verdict == Rejected:
		return reconcile.Waiting(c5c3v1alpha1.ReasonCredentialRejected, refusal(id)).After(m.retryPeriod).AtOnce(), false
	case errors.Is(err, errAsking):
		return reconcile.Waiting(c5c3v1alpha1.ReasonCredentialUnproven,
			"Keystone is being asked whether it accepts the application credential "+id).After(identityTimeout), false
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonCredentialUnproven, fmt.Sprintf(
		"It is not known whether Keystone accepts the application credential: %v; let the operator reach %s", err, authURL(m.cp))).
		After(m.proofs.pause), false
}

// wasProven reports whether the credential was good when somebody last looked: that
// the operator was restarted is no news about it.
func (m *manager) wasProven(id string) bool {
	known := m.cp.Status.AdminApplicationCredential
	return known != nil && known.ID == id &&
		meta.IsStatusConditionTrue(m.cp.Status.Conditions, c5c3v1alpha1.ConditionAdminCredentialReady)
}

// delivered waits until the users have the credential. A clouds.yaml that is
// right counts, also while the store behind it cannot be reached.
func (m *manager) delivered(ctx context.Context, text []byte) (outcome reconcile.Outcome, delivered bool) {
	now, err := m.deliveredClouds(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err), false
	}
	wantID, wantSecret := clouds.CredentialIn(text)
	if id, value := clouds.CredentialIn(now); id == wantID && value == wantSecret {
		return reconcile.Outcome{}, true
	}
	reason, message, err := m.explainDelivery(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err), false
	}
	if reason == c5c3v1alpha1.ReasonWaitingForCloudsYamlSync {
		if err := m.replaceStale(ctx); err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err), false
		}
	}
	return m.inTransit(reason, message), false
}

// replaceStale has the credential pushed once more when the users have got
// another one out of the store long after it was: the store may have been
// restored from a backup.
func (m *manager) replaceStale(ctx context.Context) error {
	secret := &corev1.Secret{}
	err := m.refs.Get(ctx, m.key(m.delivery.Name), secret)
	if err != nil || m.now().Sub(m.cp.Status.AdminApplicationCredential.LastRotation.Time) < m.spreadTime {
		return client.IgnoreNotFound(err)
	}
	if m.push.Annotations[annotationPushedFor] == secret.ResourceVersion {
		return nil
	}
	before := m.push.DeepCopy()
	metav1.SetMetaDataAnnotation(&m.push.ObjectMeta, annotationPushedFor, secret.ResourceVersion)
	if err := m.foreign.Patch(ctx, m.push, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("having PushSecret %s push again: %w", m.push.Name, err)
	}
	return nil
}

// deliveredClouds is the clouds.yaml that the users have, nil for none.
func (m *manager) deliveredClouds(ctx context.Context) ([]byte, error) {
	name := m.cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName
	secret := &corev1.Secret{}
	if err := m.refs.Get(ctx, m.key(name), secret); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return secret.Data[clouds.Key], nil
}

// explainMissingClouds says why K-ORC has no clouds.yaml yet, "" when it has one.
func (m *manager) explainMissingClouds(ctx context.Context) (string, error) {
	now, err := m.deliveredClouds(ctx)
	if err != nil || len(now) > 0 {
		return "", err
	}
	_, message, err := m.explainDelivery(ctx)
	return message, err
}

// explainDelivery says where on its way to its users the clouds.yaml is.
func (m *manager) explainDelivery(ctx context.Context) (reason, message string, err error) {
	broken, err := secrets.StoreBroken(ctx, m.kinds, m.foreign)
	if err != nil {
		return "", "", err
	}
	push := secrets.PushStateOf(m.push)
	switch {
	case broken:
		return c5c3v1alpha1.ReasonSecretStoreNotReady, fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so the clouds.yaml cannot reach Secret %s; repair the store or the backend behind it",
			secrets.StoreName, m.delivery.Name), nil
	case !push.Synced:
		return c5c3v1alpha1.ReasonWaitingForPushSecret, detailed(fmt.Sprintf(
			"PushSecret %s has not stored the clouds.yaml at %s yet; if this persists, repair the store; a path that something else wrote needs "+
				"the custom metadata managed-by=external-secrets", m.push.Name, credentialPath(m.cluster, m.cp)), push.Message), nil
	}
	for _, condition := range m.delivery.Status.Conditions {
		if condition.Type == esov1.ExternalSecretReady && condition.Status != corev1.ConditionTrue {
			return c5c3v1alpha1.ReasonWaitingForCloudsYaml,
				detailed(fmt.Sprintf("ExternalSecret %s has not delivered its Secret", m.delivery.Name), condition.Message), nil
		}
	}
	return c5c3v1alpha1.ReasonWaitingForCloudsYamlSync,
		fmt.Sprintf("Secret %s does not hold the current clouds.yaml yet", m.delivery.Name), nil
}

func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}

// inTransit reports a wait, and one that has lasted too long by another reason.
func (m *manager) inTransit(reason, message string) reconcile.Outcome {
	since := m.cp.Status.AdminApplicationCredential.LastRotation.Time
	if m.now().Sub(since) >= syncStuckTimeout {
		return reconcile.Waiting(c5c3v1alpha1.ReasonCloudsYamlSyncStuck, fmt.Sprintf(
			"The application credential has not reached its users for %s: %s", syncStuckTimeout, message))
	}
	return reconcile.Waiting(reason, message).After(time.Minute)
}

// revokeSuperseded revokes what the users do not need any more.
func (m *manager) revokeSuperseded(ctx context.Context) reconcile.Outcome {
	superseded, err := m.supersededCredentials(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	done := reconcile.Done(c5c3v1alpha1.ReasonAdminCredentialReady, fmt.Sprintf("Secret %s has the application credential in use",
		m.cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName))
	again := m.proofs.due()
	for _, old := range superseded {
		wait, err := m.revoke(ctx, old)
		if err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
		}
		if wait > 0 {
			again = min(again, wait)
		}
	}
	return done.After(again)
}
