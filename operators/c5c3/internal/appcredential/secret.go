package appcredential

import (
	"context"
	"errors"
	"fmt"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/externalsecret"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// keyValue is the key from which K-ORC reads the secret of an application credential.
const keyValue = "value"

// secret is the Secret of the application credential, with the objects that deliver it to
// its users. It has the secret with which K-ORC creates the credential, and the clouds.yaml
// of the one in use.
type secret struct {
	*pass.Pass
	adminPassword string
	object        *corev1.Secret
	push          *esov1alpha1.PushSecret
	delivery      *esov1.ExternalSecret
}

// readPassword reads the administrator's password for this step and later ones.
func (s *secret) readPassword(ctx context.Context) error {
	password, err := pass.ReadAdminPassword(ctx, s.Pass)
	switch {
	case errors.Is(err, pass.ErrNoPassword):
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForAdminPassword, err.Error())
	case err != nil:
		return reconcile.WithReason(c5c3v1alpha1.ReasonAdminPasswordError, err)
	}
	s.adminPassword = password
	pass.AdminPassword.Put(s.Slots, password)
	return nil
}

// prepare creates what K-ORC needs before Keystone can be asked for anything.
func (s *secret) prepare(ctx context.Context) error {
	if err := s.keepPasswordCloud(ctx); err != nil {
		return reconcile.WithReason(c5c3v1alpha1.ReasonPasswordCloudError, err)
	}
	if err := s.keepSecret(ctx); err != nil {
		return err
	}
	switch err := s.keepClouds(ctx); {
	case errors.Is(err, identity.ErrAsking):
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForApplicationCredential, fmt.Sprintf(
			"Secret %s was lost; checking with Keystone whether the credential in Secret %s still works",
			s.object.Name, s.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName)).After(identity.Timeout)
	case err != nil:
		return reconcile.WithReason(c5c3v1alpha1.ReasonSeedCloudsYamlError, err)
	}
	// The store would keep the administrator's password as an earlier version of the
	// credential.
	if !clouds.HasCredential(s.object.Data[clouds.Key]) {
		return nil
	}
	if err := s.keepPush(ctx); err != nil {
		return reconcile.WithReason(c5c3v1alpha1.ReasonPushSecretError, err)
	}
	return reconcile.WithReason(c5c3v1alpha1.ReasonExternalSecretError, s.keepDelivery(ctx))
}

func (s *secret) keepPasswordCloud(ctx context.Context) error {
	text, err := clouds.Password(controlplane.AuthURL(s.CP), s.CP, s.adminPassword)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: controlplane.ChildMeta(s.CP, s.CP.PasswordCloudSecretName()), Data: map[string][]byte{clouds.Key: text},
	}
	if err := s.Owned.EnsureData(ctx, s.CP, secret); err != nil {
		return err
	}
	pass.PasswordCloud.Put(s.Slots, true)
	return nil
}

// newSecret generates the secret of an application credential. That of a new control plane
// has a clouds.yaml from the start.
func (s *secret) newSecret() (*corev1.Secret, error) {
	data := map[string][]byte{keyValue: identity.NewSecret()}
	if s.CP.Status.AdminApplicationCredential == nil {
		seed, err := s.seed()
		if err != nil {
			return nil, err
		}
		data[clouds.Key] = seed
	}
	return &corev1.Secret{ObjectMeta: controlplane.ChildMeta(s.CP, s.CP.ApplicationCredentialName()), Data: data}, nil
}

// keepSecret keeps the secret of the application credential, and generates the first one.
func (s *secret) keepSecret(ctx context.Context) error {
	fresh, err := s.newSecret()
	if err != nil {
		return reconcile.WithReason(c5c3v1alpha1.ReasonSeedCloudsYamlError, err)
	}
	live, _, err := s.Owned.EnsureOnce(ctx, s.CP, fresh)
	if err != nil {
		return err
	}
	s.object = live
	if len(live.Data[keyValue]) > 0 {
		return nil
	}
	return s.store(ctx, map[string][]byte{keyValue: identity.NewSecret(), clouds.Key: live.Data[clouds.Key]})
}

// store writes the Secret of the application credential that the pass has read.
// It fails if the Secret has changed or was deleted in the meantime: that may be the
// request for another credential.
func (s *secret) store(ctx context.Context, data map[string][]byte) error {
	changed := s.object.DeepCopy()
	changed.Data = data
	if equality.Semantic.DeepEqual(s.object.Data, data) {
		return nil
	}
	if err := apply.Update(ctx, s.Client, changed, apply.Updating); err != nil {
		return err
	}
	s.object = changed
	return nil
}

// keepClouds keeps a clouds.yaml with the password until there is one with the
// credential. The error is identity.ErrAsking while the credential in use is being
// verified.
func (s *secret) keepClouds(ctx context.Context) error {
	text, err := s.cloudsInUse(ctx, s.object.Data[clouds.Key])
	if err != nil {
		return err
	}
	return s.store(ctx, map[string][]byte{keyValue: s.object.Data[keyValue], clouds.Key: text})
}

// cloudsInUse returns the clouds.yaml with the credential of the stored one, under the
// current cloud name that K-ORC will look up. Without a credential, it contains the
// password. If nothing is stored although there is a credential, the Secret was lost. In
// that case the users keep their credential, which may have fewer rights than the
// administrator, as long as it works.
func (s *secret) cloudsInUse(ctx context.Context, stored []byte) ([]byte, error) {
	if id, secret := clouds.CredentialIn(stored); id != "" {
		return clouds.Credential(controlplane.AuthURL(s.CP), s.CP, id, secret)
	}
	if len(stored) > 0 || s.CP.Status.AdminApplicationCredential == nil {
		return s.seed()
	}
	delivered, err := s.deliveredClouds(ctx)
	if err != nil {
		return nil, err
	}
	id, secret := clouds.CredentialIn(delivered)
	if id == "" {
		return s.seed()
	}
	switch verdict, err := s.Proofs.Verdict(s.NamespacedName, controlplane.AuthURL(s.CP), id, secret, false); verdict {
	case ask.Accepted:
		return clouds.Credential(controlplane.AuthURL(s.CP), s.CP, id, secret)
	case ask.Unproven:
		return nil, fmt.Errorf("asking %s whether the credential in use works: %w", controlplane.AuthURL(s.CP), err)
	}
	return s.seed()
}

// seed returns a clouds.yaml with the administrator's password.
func (s *secret) seed() ([]byte, error) {
	return clouds.Seed(controlplane.AuthURL(s.CP), s.CP, s.adminPassword)
}

// keepPush pushes the credential's Secret to the secret store.
func (s *secret) keepPush(ctx context.Context) error {
	s.push = credentialPush(s.Cluster, s.CP, s.object)
	if s.delivery == nil {
		s.delivery = cloudsDelivery(s.Cluster, s.CP, s.push)
	}
	return secrets.EnsurePushSecret(ctx, s.ThirdParty, s.Scheme, s.CP, s.push, pass.FieldManager)
}

// keepDelivery delivers what was pushed to the store to the users of the credential.
// Before the first push there is nothing that External Secrets could fetch.
func (s *secret) keepDelivery(ctx context.Context) error {
	s.delivery = cloudsDelivery(s.Cluster, s.CP, s.push)
	if s.push.Status.SyncedResourceVersion == "" {
		return nil
	}
	return externalsecret.Ensure(ctx, s.Pass, s.delivery)
}

// deliveredClouds returns the clouds.yaml that the users have, nil for none.
func (s *secret) deliveredClouds(ctx context.Context) ([]byte, error) {
	name := s.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName
	secret, err := apply.Find(ctx, s.Refs, pass.Key(s.Pass, name), &corev1.Secret{})
	if secret == nil || err != nil {
		return nil, err
	}
	return secret.Data[clouds.Key], nil
}

// storedIsRejected reports whether Keystone rejects the credential in the Secret, which
// the users have. The error is identity.ErrAsking while there is no answer.
func (s *secret) storedIsRejected() (bool, error) {
	id, secret := clouds.CredentialIn(s.object.Data[clouds.Key])
	if id == "" {
		return false, nil
	}
	return s.Proofs.Dead(s.NamespacedName, controlplane.AuthURL(s.CP), id, secret)
}
