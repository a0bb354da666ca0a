package controller

import (
	"bytes"
	"context"
	"fmt"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

const (
	// syncStuckTimeout is how long a new credential may be on its way through
	// the secret store.
	syncStuckTimeout = 15 * time.Minute
	// defaultSpreadTime is how long a replaced credential works on at least: pods
	// see a new clouds.yaml when the kubelet refreshes their volumes, which may
	// take a minute and a half, and calls that have begun have to end.
	defaultSpreadTime = 2 * time.Minute
	// loginPeriod is how often a login is tried again that got no answer.
	loginPeriod = 10 * time.Second
)

// reconcileAdminCredential brings the application credential to its users, but
// not before Keystone has accepted it, and then revokes the one it replaces.
func reconcileAdminCredential(ctx context.Context, s *scope) reconcile.Outcome {
	if s.cp.Spec.Services.Keystone == nil {
		return noKeystone()
	}
	secret := string(s.credential.Data[keyValue])
	switch {
	case s.applicationCredential == nil || s.applicationCredential.Status.ID == nil:
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForCredentialID, "K-ORC has not reported the id of the application credential yet")
	case secret == "":
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForAppCredentialSecret,
			"Secret "+s.cp.ApplicationCredentialName()+" with the application credential is not there yet")
	}
	id := *s.applicationCredential.Status.ID
	if outcome := s.prove(ctx, id, secret); !outcome.IsDone() {
		return outcome
	}
	text, err := credentialClouds(s.cp, id, secret)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	if !bytes.Equal(text, s.credential.Data[keyClouds]) {
		if err := s.storeCredential(ctx, map[string][]byte{keyValue: s.credential.Data[keyValue], keyClouds: text}); err != nil {
			return writeError(c5c3v1alpha1.ReasonSecretError, err)
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

// prove logs in with the credential: K-ORC reports one as available also when
// its secret is another.
func (s *scope) prove(ctx context.Context, id, secret string) reconcile.Outcome {
	verdict, err := s.proofs.verdict(ctx, s.name(), authURL(s.cp), id, secret)
	switch verdict {
	case Accepted:
		return reconcile.Done(c5c3v1alpha1.ReasonAdminCredentialReady, "")
	case Rejected:
		return reconcile.Waiting(c5c3v1alpha1.ReasonCredentialRejected, fmt.Sprintf(
			"Keystone refuses the application credential %s; a new one is made", id)).After(s.retryPeriod)
	}
	return reconcile.Waiting(c5c3v1alpha1.ReasonCredentialUnproven, fmt.Sprintf(
		"It is not known whether Keystone accepts the application credential: %v; let the operator reach %s", err, authURL(s.cp))).
		After(min(loginPeriod, s.retryPeriod))
}

// delivered waits until the users have the credential. A clouds.yaml that is
// right counts, also while the store behind it cannot be reached.
func (s *scope) delivered(ctx context.Context, text []byte) reconcile.Outcome {
	name := s.cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName
	secret := &corev1.Secret{}
	if err := s.refs.Get(ctx, s.key(name), secret); client.IgnoreNotFound(err) != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, fmt.Errorf("reading Secret %s: %w", name, err))
	}
	wantID, wantSecret := credentialIn(text)
	if id, value := credentialIn(secret.Data[keyClouds]); id == wantID && value == wantSecret {
		return reconcile.Done(c5c3v1alpha1.ReasonAdminCredentialReady, "")
	}
	return s.explainDelivery(ctx, name)
}

// explainDelivery says where on its way the credential is.
func (s *scope) explainDelivery(ctx context.Context, name string) reconcile.Outcome {
	broken, err := s.storeBroken(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonCloudsYamlError, err)
	}
	push := secrets.PushStateOf(s.push)
	switch {
	case broken:
		return s.onItsWay(c5c3v1alpha1.ReasonSecretStoreNotReady, fmt.Sprintf(
			"ClusterSecretStore %s is not ready, so the application credential cannot reach Secret %s; repair the store or the backend behind it",
			secretStoreName, name))
	case !push.Synced:
		return s.onItsWay(c5c3v1alpha1.ReasonWaitingForPushSecret, detailed(fmt.Sprintf(
			"PushSecret %s has not stored the application credential at %s yet; a path that something else wrote needs the custom metadata "+
				"managed-by=external-secrets", s.push.Name, credentialPath(s.cp)), push.Message))
	}
	for _, condition := range s.delivery.Status.Conditions {
		if condition.Type == esov1.ExternalSecretReady && condition.Status != corev1.ConditionTrue {
			return s.onItsWay(c5c3v1alpha1.ReasonWaitingForCloudsYaml,
				detailed(fmt.Sprintf("ExternalSecret %s has not delivered its Secret", name), condition.Message))
		}
	}
	return s.onItsWay(c5c3v1alpha1.ReasonWaitingForCloudsYamlSync,
		fmt.Sprintf("Secret %s does not hold the current application credential yet", name))
}

func detailed(message, detail string) string {
	if detail == "" {
		return message
	}
	return message + ": " + detail
}

// onItsWay reports a wait, and one that has lasted too long by another reason.
func (s *scope) onItsWay(reason, message string) reconcile.Outcome {
	since := s.cp.Status.AdminApplicationCredential.LastRotation.Time
	if s.now().Sub(since) >= s.syncTimeout {
		return reconcile.Waiting(c5c3v1alpha1.ReasonCloudsYamlSyncStuck, fmt.Sprintf(
			"The application credential has not reached its users for %s: %s", s.syncTimeout, message))
	}
	return reconcile.Waiting(reason, message).After(min(s.syncTimeout, time.Minute))
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

// revoke deletes a superseded credential at its time, and returns how long that
// is off. From when the time runs is kept on the object.
func (s *scope) revoke(ctx context.Context, old *orcv1alpha1.ApplicationCredential) (time.Duration, error) {
	if !old.DeletionTimestamp.IsZero() {
		return 0, nil
	}
	// One that cannot be read is none: zero.
	asked, _ := time.ParseDuration(old.Annotations[c5c3v1alpha1.AnnotationCredentialOverlap])
	overlap := max(asked, s.spreadTime)
	at, err := time.Parse(time.RFC3339, old.Annotations[c5c3v1alpha1.AnnotationSupersededAt])
	if err != nil {
		before := old.DeepCopy()
		metav1.SetMetaDataAnnotation(&old.ObjectMeta, c5c3v1alpha1.AnnotationSupersededAt, s.now().UTC().Format(time.RFC3339))
		return overlap, s.foreign.Patch(ctx, old, client.MergeFrom(before))
	}
	if wait := at.Add(overlap).Sub(s.now()); wait > 0 {
		// A clock that was ahead when the time began must not extend it.
		return min(wait, overlap), nil
	}
	return 0, s.remove(ctx, old)
}
