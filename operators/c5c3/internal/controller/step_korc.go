package controller

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

var pushSecretKind = esov1alpha1.SchemeGroupVersion.WithKind(esov1alpha1.PushSecretKind)

// keyValue is where K-ORC reads the secret of an application credential.
const keyValue = "value"

// reconcileKORC has K-ORC make the administrator's application credential, and
// gives it what it needs for that: the administrator's password, the imports,
// and a first clouds.yaml.
func reconcileKORC(ctx context.Context, s *scope) reconcile.Outcome {
	if !s.services.identity().wanted(s.cp) {
		return noKeystone()
	}
	if outcome, ok := s.korcInstalled(); !ok {
		return outcome
	}
	if outcome := s.readAdminPassword(ctx); !outcome.IsDone() {
		return outcome
	}
	for _, prepare := range []func(context.Context) reconcile.Outcome{s.prepare, s.keepImports} {
		if outcome := prepare(ctx); !outcome.IsDone() {
			return outcome
		}
	}
	return s.keepCredential(ctx)
}

// reconcileKORCInputs publishes the first clouds.yaml while Keystone comes up: K-ORC
// can ask Keystone for nothing without it, and the secret store takes seconds to
// carry it there. What is missing for that is up to the steps that need it.
func reconcileKORCInputs(ctx context.Context, s *scope) reconcile.Outcome {
	if s.cp.Spec.Services.Keystone == nil || s.cp.Status.AdminApplicationCredential != nil {
		return prepared()
	}
	if _, installed := s.korcInstalled(); !installed {
		return prepared()
	}
	if outcome := s.readAdminPassword(ctx); !outcome.IsDone() {
		return prepared()
	}
	return s.prepare(ctx)
}

// prepare makes what K-ORC needs before Keystone can be asked for anything.
func (s *scope) prepare(ctx context.Context) reconcile.Outcome {
	for _, prepare := range []func(context.Context) reconcile.Outcome{s.keepPasswordCloud, s.keepCredentialSecret, s.publish} {
		if outcome := prepare(ctx); !outcome.IsDone() {
			return outcome
		}
	}
	return prepared()
}

// noKeystone is what the steps say that work on a Keystone.
func noKeystone() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged,
		"spec.services.keystone is not set: what K-ORC manages is left as it is")
}

func (s *scope) korcInstalled() (reconcile.Outcome, bool) {
	if kind := s.missingKORCKind(); kind != "" {
		return reconcile.Waiting(c5c3v1alpha1.ReasonKORCNotInstalled, fmt.Sprintf(
			"The cluster has no kind %s of %s: install K-ORC, the OpenStack Resource Controller", kind, orcv1alpha1.GroupName)), false
	}
	if !s.kinds.Served(externalSecretKind) || !s.kinds.Served(pushSecretKind) {
		return reconcile.Waiting(c5c3v1alpha1.ReasonExternalSecretsNotInstalled,
			"The cluster has no kinds ExternalSecret and PushSecret, which carry the application credential: install External Secrets"), false
	}
	return reconcile.Outcome{}, true
}

// prepared is what a preparation says that leaves nothing to do.
func prepared() reconcile.Outcome {
	return reconcile.Done(c5c3v1alpha1.ReasonApplicationCredentialMinted, "")
}

func (s *scope) readAdminPassword(ctx context.Context) reconcile.Outcome {
	ref := s.cp.AdminSecretRef()
	secret := &corev1.Secret{}
	err := s.refs.Get(ctx, s.key(ref.Name), secret)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonAdminPasswordError, fmt.Errorf("reading Secret %s: %w", ref.Name, err))
	}
	s.adminPassword = string(secret.Data[ref.Key])
	if s.adminPassword == "" {
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForAdminPassword, fmt.Sprintf(
			"Secret %s with the administrator's password under the key %s does not exist yet, or the key is empty", ref.Name, ref.Key))
	}
	return prepared()
}

func (s *scope) keepPasswordCloud(ctx context.Context) reconcile.Outcome {
	text, err := clouds.Password(authURL(s.cp), s.cp, s.adminPassword)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonPasswordCloudError, err)
	}
	secret := &corev1.Secret{
		ObjectMeta: controlplane.ChildMeta(s.cp, s.cp.PasswordCloudSecretName()), Data: map[string][]byte{clouds.Key: text},
	}
	if err := s.owned.EnsureData(ctx, s.cp, secret); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonPasswordCloudError, err)
	}
	s.hasPasswordCloud = true
	return prepared()
}

// keepCredentialSecret makes the secret of the first application credential, and
// a clouds.yaml with the password until there is one with the credential.
func (s *scope) keepCredentialSecret(ctx context.Context) reconcile.Outcome {
	fresh := &corev1.Secret{
		ObjectMeta: controlplane.ChildMeta(s.cp, s.cp.ApplicationCredentialName()), Data: map[string][]byte{keyValue: newSecretValue()},
	}
	live, _, err := s.owned.EnsureOnce(ctx, s.cp, fresh)
	if err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err)
	}
	s.credential = live
	if len(live.Data[keyValue]) == 0 {
		if err := s.storeCredential(ctx, map[string][]byte{keyValue: newSecretValue(), clouds.Key: live.Data[clouds.Key]}); err != nil {
			return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err)
		}
	}
	text, err := s.cloudsInUse(ctx, live.Data[clouds.Key])
	if errors.Is(err, errAsking) {
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForApplicationCredential, fmt.Sprintf(
			"Secret %s was lost, and Keystone is being asked whether the credential in Secret %s still works",
			live.Name, s.cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName)).After(identityTimeout)
	}
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonSeedCloudsYamlError, err)
	}
	if err := s.storeCredential(ctx, map[string][]byte{keyValue: s.credential.Data[keyValue], clouds.Key: text}); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSeedCloudsYamlError, err)
	}
	return prepared()
}

// cloudsInUse is the clouds.yaml with the credential of a stored one, under the
// cloud's current name: K-ORC is about to look for that. Without a credential it
// has the password. Where none is stored though there is a credential, the Secret
// has been lost: the users keep theirs as long as it works, which may have fewer
// rights than the administrator.
func (s *scope) cloudsInUse(ctx context.Context, stored []byte) ([]byte, error) {
	if id, secret := clouds.CredentialIn(stored); id != "" {
		return clouds.Credential(authURL(s.cp), s.cp, id, secret)
	}
	if len(stored) > 0 || s.cp.Status.AdminApplicationCredential == nil {
		return clouds.Seed(authURL(s.cp), s.cp, s.adminPassword)
	}
	delivered, err := s.deliveredClouds(ctx)
	if err != nil {
		return nil, err
	}
	id, secret := clouds.CredentialIn(delivered)
	if id == "" {
		return clouds.Seed(authURL(s.cp), s.cp, s.adminPassword)
	}
	switch verdict, err := s.proofs.verdict(s.name(), authURL(s.cp), id, secret); verdict {
	case Accepted:
		return clouds.Credential(authURL(s.cp), s.cp, id, secret)
	case Unproven:
		return nil, fmt.Errorf("asking %s whether the credential in use works: %w", authURL(s.cp), err)
	}
	return clouds.Seed(authURL(s.cp), s.cp, s.adminPassword)
}

// storeCredential writes the Secret of the application credential that the pass
// has read. It is an error when that has changed or gone meanwhile: another
// credential may have been asked for by it.
func (s *scope) storeCredential(ctx context.Context, data map[string][]byte) error {
	changed := s.credential.DeepCopy()
	changed.Data = data
	if equality.Semantic.DeepEqual(s.credential.Data, data) {
		return nil
	}
	if err := s.client.Update(ctx, changed); err != nil {
		return fmt.Errorf("updating Secret %s: %w", changed.Name, err)
	}
	s.credential = changed
	return nil
}

// newSecretValue is 32 random bytes.
func newSecretValue() []byte {
	var raw [32]byte
	// It never fails, see the documentation of the package.
	_, _ = rand.Read(raw[:])
	return []byte(base64.RawURLEncoding.EncodeToString(raw[:]))
}

// publish sends the credential's Secret through the secret store to the users of
// the clouds.yaml.
func (s *scope) publish(ctx context.Context) reconcile.Outcome {
	s.push = credentialPush(s.cluster, s.cp, s.credential)
	if err := secrets.EnsurePushSecret(ctx, s.foreign, s.scheme, s.cp, s.push, fieldManager); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonPushSecretError, err)
	}
	s.delivery = cloudsDelivery(s.cluster, s.cp, s.credential, s.push)
	if err := s.ensureExternalSecret(ctx, s.delivery); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonExternalSecretError, err)
	}
	return prepared()
}

func (s *scope) keepImports(ctx context.Context) reconcile.Outcome {
	with := userCloud(s.cp)
	imports := []orcObject{domainImport(s.cp, with), userImport(s.cp, with)}
	if s.credentialNamesIdentityService() {
		imports = append(imports, s.services.identity().catalogService(s.cp))
	}
	for _, obj := range imports {
		wait, err := s.ensureORC(ctx, obj, s.failingSince(c5c3v1alpha1.ConditionKORCReady))
		if err != nil {
			return reconcile.WriteFailed(c5c3v1alpha1.ReasonAdminImportError, err)
		}
		s.lookAgain(wait)
	}
	s.imports = imports
	return prepared()
}

// credentialNamesIdentityService reports whether an access rule is about Keystone
// itself: K-ORC then needs its Service before it can make the credential.
func (s *scope) credentialNamesIdentityService() bool {
	rules := s.cp.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules
	return slices.ContainsFunc(rules, func(r c5c3v1alpha1.AccessRule) bool { return r.Service == s.cp.IdentityServiceName() })
}

// lookAgain asks for the next pass in d at the latest, zero for no such wish.
func (s *scope) lookAgain(d time.Duration) {
	if d > 0 && (s.again == 0 || d < s.again) {
		s.again = d
	}
}

// waitingImports describes the imports that are not there yet.
func (s *scope) waitingImports() string {
	var waiting []string
	for _, obj := range s.imports {
		if !stateOf(obj).available {
			waiting = append(waiting, describe(obj))
		}
	}
	return strings.Join(waiting, ", ")
}
