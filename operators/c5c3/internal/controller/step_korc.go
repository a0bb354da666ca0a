package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

var pushSecretKind = esov1alpha1.SchemeGroupVersion.WithKind(esov1alpha1.PushSecretKind)

// reconcileKORC has K-ORC make the administrator's application credential, and
// gives it what it needs for that: the administrator's password, the imports,
// and a first clouds.yaml.
func reconcileKORC(ctx context.Context, s *scope) reconcile.Outcome {
	if s.cp.Spec.Services.Keystone == nil {
		return noKeystone()
	}
	if outcome, ok := s.korcInstalled(); !ok {
		return outcome
	}
	m := &manager{scope: s}
	switch err := m.readPassword(ctx); {
	case errors.Is(err, errNoPassword):
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForAdminPassword, err.Error())
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonAdminPasswordError, err)
	}
	if outcome, ok := m.prepare(ctx); !ok {
		return outcome
	}
	if err := m.keepImports(ctx); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonAdminImportError, err)
	}
	outcome := m.keepCredential(ctx)
	heldCredential.Put(s.Slots, m.held)
	return outcome
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
	m := &manager{scope: s}
	if err := m.readPassword(ctx); err != nil {
		return prepared()
	}
	if outcome, ok := m.prepare(ctx); !ok {
		return outcome
	}
	return prepared()
}

// prepare makes what K-ORC needs before Keystone can be asked for anything. The outcome
// says what is in the way when ok is false.
func (m *manager) prepare(ctx context.Context) (outcome reconcile.Outcome, ok bool) {
	if err := m.keepPasswordCloud(ctx); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonPasswordCloudError, err), false
	}
	if err := m.keepSecret(ctx); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err), false
	}
	switch err := m.keepClouds(ctx); {
	case errors.Is(err, errAsking):
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForApplicationCredential, fmt.Sprintf(
			"Secret %s was lost, and Keystone is being asked whether the credential in Secret %s still works",
			m.credential.Name, m.cp.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName)).After(identityTimeout), false
	case err != nil:
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSeedCloudsYamlError, err), false
	}
	if err := m.pushCredential(ctx); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonPushSecretError, err), false
	}
	if err := m.deliverClouds(ctx); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonExternalSecretError, err), false
	}
	return reconcile.Outcome{}, true
}

// readPassword reads the administrator's password for this step and later ones.
func (m *manager) readPassword(ctx context.Context) error {
	password, err := m.readAdminPassword(ctx)
	if err != nil {
		return err
	}
	m.adminPassword = password
	adminPassword.Put(m.Slots, password)
	return nil
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

func (m *manager) keepPasswordCloud(ctx context.Context) error {
	text, err := clouds.Password(authURL(m.cp), m.cp, m.adminPassword)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: controlplane.ChildMeta(m.cp, m.cp.PasswordCloudSecretName()), Data: map[string][]byte{clouds.Key: text},
	}
	if err := m.owned.EnsureData(ctx, m.cp, secret); err != nil {
		return err
	}
	passwordCloud.Put(m.Slots, true)
	return nil
}

// keepSecret makes the secret of the first application credential.
func (m *manager) keepSecret(ctx context.Context) error {
	fresh := &corev1.Secret{
		ObjectMeta: controlplane.ChildMeta(m.cp, m.cp.ApplicationCredentialName()), Data: map[string][]byte{keyValue: newSecretValue()},
	}
	live, _, err := m.owned.EnsureOnce(ctx, m.cp, fresh)
	if err != nil {
		return err
	}
	m.credential = live
	if len(live.Data[keyValue]) > 0 {
		return nil
	}
	return m.storeCredential(ctx, map[string][]byte{keyValue: newSecretValue(), clouds.Key: live.Data[clouds.Key]})
}

// keepClouds keeps a clouds.yaml with the password until there is one with the
// credential. The error is errAsking while Keystone is asked about that.
func (m *manager) keepClouds(ctx context.Context) error {
	text, err := m.cloudsInUse(ctx, m.credential.Data[clouds.Key])
	if err != nil {
		return err
	}
	return m.storeCredential(ctx, map[string][]byte{keyValue: m.credential.Data[keyValue], clouds.Key: text})
}

// cloudsInUse is the clouds.yaml with the credential of a stored one, under the
// cloud's current name: K-ORC is about to look for that. Without a credential it
// has the password. Where none is stored though there is a credential, the Secret
// has been lost: the users keep theirs as long as it works, which may have fewer
// rights than the administrator.
func (m *manager) cloudsInUse(ctx context.Context, stored []byte) ([]byte, error) {
	if id, secret := clouds.CredentialIn(stored); id != "" {
		return clouds.Credential(authURL(m.cp), m.cp, id, secret)
	}
	if len(stored) > 0 || m.cp.Status.AdminApplicationCredential == nil {
		return clouds.Seed(authURL(m.cp), m.cp, m.adminPassword)
	}
	delivered, err := m.deliveredClouds(ctx)
	if err != nil {
		return nil, err
	}
	id, secret := clouds.CredentialIn(delivered)
	if id == "" {
		return clouds.Seed(authURL(m.cp), m.cp, m.adminPassword)
	}
	switch verdict, err := m.proofs.verdict(m.name(), authURL(m.cp), id, secret); verdict {
	case Accepted:
		return clouds.Credential(authURL(m.cp), m.cp, id, secret)
	case Unproven:
		return nil, fmt.Errorf("asking %s whether the credential in use works: %w", authURL(m.cp), err)
	}
	return clouds.Seed(authURL(m.cp), m.cp, m.adminPassword)
}

// storeCredential writes the Secret of the application credential that the pass
// has read. It is an error when that has changed or gone meanwhile: another
// credential may have been asked for by it.
func (m *manager) storeCredential(ctx context.Context, data map[string][]byte) error {
	changed := m.credential.DeepCopy()
	changed.Data = data
	if equality.Semantic.DeepEqual(m.credential.Data, data) {
		return nil
	}
	if err := m.client.Update(ctx, changed); err != nil {
		return fmt.Errorf("updating Secret %s: %w", changed.Name, err)
	}
	m.credential = changed
	return nil
}

// pushCredential sends the credential's Secret into the secret store.
func (m *manager) pushCredential(ctx context.Context) error {
	m.push = credentialPush(m.cluster, m.cp, m.credential)
	return secrets.EnsurePushSecret(ctx, m.foreign, m.scheme, m.cp, m.push, fieldManager)
}

// deliverClouds brings the clouds.yaml of it from there to its users.
func (m *manager) deliverClouds(ctx context.Context) error {
	m.delivery = cloudsDelivery(m.cluster, m.cp, m.credential, m.push)
	return m.ensureExternalSecret(ctx, m.delivery)
}

func (m *manager) keepImports(ctx context.Context) error {
	with := userCloud(m.cp)
	imports := []orcObject{domainImport(m.cp, with), userImport(m.cp, with)}
	if m.credentialNamesIdentityService() {
		imports = append(imports, identityService(m.cp))
	}
	for _, obj := range imports {
		wait, err := m.ensureORC(ctx, obj, m.failingSince(c5c3v1alpha1.ConditionKORCReady))
		if err != nil {
			return err
		}
		m.lookAgain(wait)
	}
	m.imports = imports
	return nil
}

// credentialNamesIdentityService reports whether an access rule is about Keystone
// itself: K-ORC then needs its Service before it can make the credential.
func (m *manager) credentialNamesIdentityService() bool {
	rules := m.cp.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules
	return slices.ContainsFunc(rules, func(r c5c3v1alpha1.AccessRule) bool { return r.Service == m.cp.IdentityServiceName() })
}

// waitingImports describes the imports that are not there yet.
func (m *manager) waitingImports() string {
	var waiting []string
	for _, obj := range m.imports {
		if !stateOf(obj).available {
			waiting = append(waiting, describe(obj))
		}
	}
	return strings.Join(waiting, ", ")
}
