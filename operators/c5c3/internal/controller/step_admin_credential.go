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
	if !s.services.identity().wanted(s.cp) {
		return noKeystone()
	}
	// KORC is True only with both.
	id, secret := *s.applicationCredential.Status.ID, string(s.credential.Data[keyValue])
	if outcome := s.prove(id, secret); !outcome.IsDone() {
		return outcome
	}
	text, err := clouds.Credential(authURL(s.cp), s.cp, id, secret)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	if !bytes.Equal(text, s.credential.Data[clouds.Key]) {
		if err := s.storeCredential(ctx, map[string][]byte{keyValue: s.credential.Data[keyValue], clouds.Key: text}); err != nil {
			return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err)
		}
		if outcome := s.publish(ctx); !outcome.IsDone() {
			return asCredentialReason(outcome)
		}
	}
	if outcome := s.delivered(ctx, text); !outcome.IsDone() {
		return outcome
	}
	return s.revokeSuperseded(ctx)
}

// asCredentialReason words an error of publishing as this condition does.
func asCredentialReason(outcome reconcile.Outcome) reconcile.Outcome {
	if outcome.Reason() == c5c3v1alpha1.ReasonExternalSecretError {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, outcome.Err())
	}
	return outcome
}

// prove has somebody log in with the credential: K-ORC reports one as available
// also when its secret is another.
func (s *scope) prove(id, secret string) reconcile.Outcome {
	verdict, err := s.proofs.verdict(s.name(), authURL(s.cp), id, secret)
	switch {
	case verdict == Accepted, errors.Is(err, errAsking) && s.wasProven(id):
		return reconcile.Done(c5c3v1alpha1.ReasonAdminCredentialReady, "")
	case verdict == Rejected:
		return reconcile.Waiting(c5c3v1alpha1.ReasonCredentialRejected, refusal(id)).After(s.retryPeriod).AtOnce()
	case errors.Is(err, errAsking):
		return reconcile.Waiting(c5c3v1alpha1.ReasonCredentialUnproven,
			"Keystone is being asked whether it accepts the application credential "+id).After(identityTimeout)
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonCredentialUnproven, fmt.Sprintf(
		"It is not known whether Keystone accepts the application credential: %v; let the operator reach %s", err, authURL(s.cp))).
		After(s.proofs.pause)
}

// wasProven reports whether the credential was good when somebody last looked: that
// the operator was restarted is no news about it.
func (s *scope) wasProven(id string) bool {
	known := s.cp.Status.AdminApplicationCredential
	return known != nil && known.ID == id &&
		meta.IsStatusConditionTrue(s.cp.Status.Conditions, c5c3v1alpha1.ConditionAdminCredentialReady)
}

// delivered waits until the users have the credential. A clouds.yaml that is
// right counts, also while the store behind it cannot be reached.
func (s *scope) delivered(ctx context.Context, text []byte) reconcile.Outcome {
	now, err := s.deliveredClouds(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	wantID, wantSecret := clouds.CredentialIn(text)
	if id, value := clouds.CredentialIn(now); id == wantID && value == wantSecret {
		return reconcile.Done(c5c3v1alpha1.ReasonAdminCredentialReady, "")
	}
	reason, message, err := s.explainDelivery(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	if reason == c5c3v1alpha1.ReasonWaitingForCloudsYamlSync {
		if err := s.replaceStale(ctx); err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
		}
	}
	return s.inTransit(reason, message)
}

// replaceStale has the credential pushed once more when the users have got
// another one out of the store long after it was: the store may have been
// restored from a backup.
func (s *scope) replaceStale(ctx context.Context) error {
	secret := &corev1.Secret{}
	err := s.refs.Get(ctx, s.key(s.delivery.Name), secret)
	if err != nil || s.now().Sub(s.cp.Status.AdminApplicationCredential.LastRotation.Time) < s.spreadTime {
		return client.IgnoreNotFound(err)
	}
	if s.push.Annotations[annotationPushedFor] == secret.ResourceVersion {
		return nil
	}
	before := s.push.DeepCopy()
	metav1.SetMetaDataAnnotation(&s.push.ObjectMeta, annotationPushedFor, secret.ResourceVersion)
	if err := s.foreign.Patch(ctx, s.push, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("having PushSecret %s push again: %w", s.push.Name, err)
	}
	return nil
}

// deliveredClouds is the clouds.yaml that the users have, nil for none.
func (s *scope) deliveredClouds(ctx context.Context) ([]byte, error) {
	name := s.cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName
	secret := &corev1.Secret{}
	if err := s.refs.Get(ctx, s.key(name), secret); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", name, err)
	}
	return secret.Data[clouds.Key], nil
}

// explainMissingClouds says why K-ORC has no clouds.yaml yet, "" when it has one.
func (s *scope) explainMissingClouds(ctx context.Context) (string, error) {
	now, err := s.deliveredClouds(ctx)
	if err != nil || len(now) > 0 {
		return "", err
	}
	_, message, err := s.explainDelivery(ctx)
	return message, err
}

// explainDelivery says where on its way to its users the clouds.yaml is.
func (s *scope) explainDelivery(ctx context.Context) (reason, message string, err error) {
	broken, err := secrets.StoreBroken(ctx, s.kinds, s.foreign)
	if err != nil {
		return "", "", err
	}
	push := secrets.PushStateOf(s.push)
	switch {
	case broken:
		return c5c3v1alpha1.ReasonSecretStoreNotReady, fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so the clouds.yaml cannot reach Secret %s; repair the store or the backend behind it",
			secrets.StoreName, s.delivery.Name), nil
	case !push.Synced:
		return c5c3v1alpha1.ReasonWaitingForPushSecret, detailed(fmt.Sprintf(
			"PushSecret %s has not stored the clouds.yaml at %s yet; if this persists, repair the store; a path that something else wrote needs "+
				"the custom metadata managed-by=external-secrets", s.push.Name, credentialPath(s.cluster, s.cp)), push.Message), nil
	}
	for _, condition := range s.delivery.Status.Conditions {
		if condition.Type == esov1.ExternalSecretReady && condition.Status != corev1.ConditionTrue {
			return c5c3v1alpha1.ReasonWaitingForCloudsYaml,
				detailed(fmt.Sprintf("ExternalSecret %s has not delivered its Secret", s.delivery.Name), condition.Message), nil
		}
	}
	return c5c3v1alpha1.ReasonWaitingForCloudsYamlSync,
		fmt.Sprintf("Secret %s does not hold the current clouds.yaml yet", s.delivery.Name), nil
}

func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}

// inTransit reports a wait, and one that has lasted too long by another reason.
func (s *scope) inTransit(reason, message string) reconcile.Outcome {
	since := s.cp.Status.AdminApplicationCredential.LastRotation.Time
	if s.now().Sub(since) >= syncStuckTimeout {
		return reconcile.Waiting(c5c3v1alpha1.ReasonCloudsYamlSyncStuck, fmt.Sprintf(
			"The application credential has not reached its users for %s: %s", syncStuckTimeout, message))
	}
	return reconcile.Waiting(reason, message).After(time.Minute)
}

// revokeSuperseded revokes what the users do not need any more.
func (s *scope) revokeSuperseded(ctx context.Context) reconcile.Outcome {
	superseded, err := s.supersededCredentials(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	done := reconcile.Done(c5c3v1alpha1.ReasonAdminCredentialReady, fmt.Sprintf("Secret %s has the application credential in use",
		s.cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName))
	again := s.proofs.due()
	for _, old := range superseded {
		wait, err := s.revoke(ctx, old)
		if err != nil {
			return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
		}
		if wait > 0 {
			again = min(again, wait)
		}
	}
	return done.After(again)
}
