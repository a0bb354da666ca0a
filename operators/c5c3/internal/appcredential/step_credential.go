package appcredential

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/clouds"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/externalsecret"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// Reconcile makes K-ORC create the administrator's application credential. It provides
// what K-ORC needs for that: the administrator's password, the imports, and a first
// clouds.yaml.
func Reconcile(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if s.CP.Spec.Services.Keystone == nil {
		return pass.NoKeystone()
	}
	m := &manager{Pass: s}
	err := korcInstalled(s)
	if err == nil {
		err = m.readPassword(ctx)
	}
	if err == nil {
		err = m.prepare(ctx)
	}
	if err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err)
	}
	again, err := m.keepImports(ctx)
	if err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonAdminImportError, err)
	}
	err = m.keepCredential(ctx)
	Credential.Put(s.Slots, m.Held)
	if err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonApplicationCredentialError, err).Within(again)
	}
	return m.report(ctx).Within(again)
}

// report returns the outcome once there is a credential.
func (m *manager) report(ctx context.Context) reconcile.Outcome {
	stalled, again, err := m.overdue(ctx)
	switch {
	case err != nil:
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	case stalled != "":
		return reconcile.Waiting(c5c3v1alpha1.ReasonReMintStalled, stalled).After(again).Proceed()
	}
	message, err := m.minted(ctx)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonApplicationCredentialError, err)
	}
	return reconcile.Done(c5c3v1alpha1.ReasonApplicationCredentialMinted, message).After(again)
}

// ReconcileInputs creates the Secrets that K-ORC needs while Keystone is starting. Missing
// prerequisites are reported by the steps that need them.
func ReconcileInputs(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	if s.CP.Spec.Services.Keystone == nil || s.CP.Status.AdminApplicationCredential != nil {
		return pass.NothingToAdd()
	}
	m := &manager{Pass: s}
	if korcInstalled(s) != nil || m.readPassword(ctx) != nil {
		return pass.NothingToAdd()
	}
	if err := m.prepare(ctx); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err)
	}
	return pass.NothingToAdd()
}

// prepare creates what K-ORC needs before Keystone can be asked for anything.
func (m *manager) prepare(ctx context.Context) error {
	if err := m.keepPasswordCloud(ctx); err != nil {
		return reconcile.WithReason(c5c3v1alpha1.ReasonPasswordCloudError, err)
	}
	if err := m.keepSecret(ctx); err != nil {
		return err
	}
	switch err := m.keepClouds(ctx); {
	case errors.Is(err, identity.ErrAsking):
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForApplicationCredential, fmt.Sprintf(
			"Secret %s was lost; checking with Keystone whether the credential in Secret %s still works",
			m.credential.Name, m.CP.Spec.KORC.AdminCredential.CloudCredentialsRef.SecretName)).After(identity.Timeout)
	case err != nil:
		return reconcile.WithReason(c5c3v1alpha1.ReasonSeedCloudsYamlError, err)
	}
	// The store would keep the administrator's password as an earlier version of the
	// credential.
	if !clouds.HasCredential(m.credential.Data[clouds.Key]) {
		return nil
	}
	if err := m.pushCredential(ctx); err != nil {
		return reconcile.WithReason(c5c3v1alpha1.ReasonPushSecretError, err)
	}
	return reconcile.WithReason(c5c3v1alpha1.ReasonExternalSecretError, m.deliverClouds(ctx))
}

// readPassword reads the administrator's password for this step and later ones.
func (m *manager) readPassword(ctx context.Context) error {
	password, err := pass.ReadAdminPassword(ctx, m.Pass)
	switch {
	case errors.Is(err, pass.ErrNoPassword):
		return reconcile.WaitError(c5c3v1alpha1.ReasonWaitingForAdminPassword, err.Error())
	case err != nil:
		return reconcile.WithReason(c5c3v1alpha1.ReasonAdminPasswordError, err)
	}
	m.adminPassword = password
	pass.AdminPassword.Put(m.Slots, password)
	return nil
}

func korcInstalled(s *pass.Pass) error {
	if kind := korc.MissingKind(s); kind != "" {
		return reconcile.WaitError(c5c3v1alpha1.ReasonKORCNotInstalled, fmt.Sprintf(
			"The cluster has no kind %s of %s: install K-ORC, the OpenStack Resource Controller", kind, orcv1alpha1.GroupName))
	}
	if !s.Kinds.Served(externalsecret.Kind) || !s.Kinds.Served(PushSecretKind) {
		return reconcile.WaitError(c5c3v1alpha1.ReasonExternalSecretsNotInstalled,
			"The cluster has no kinds ExternalSecret and PushSecret, which deliver the application credential: install External Secrets")
	}
	return nil
}

func (m *manager) keepPasswordCloud(ctx context.Context) error {
	text, err := clouds.Password(controlplane.AuthURL(m.CP), m.CP, m.adminPassword)
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: controlplane.ChildMeta(m.CP, m.CP.PasswordCloudSecretName()), Data: map[string][]byte{clouds.Key: text},
	}
	if err := m.Owned.EnsureData(ctx, m.CP, secret); err != nil {
		return err
	}
	pass.PasswordCloud.Put(m.Slots, true)
	return nil
}

// newSecret generates the secret of an application credential. That of a new control plane
// has a clouds.yaml from the start.
func (m *manager) newSecret() (*corev1.Secret, error) {
	data := map[string][]byte{keyValue: identity.NewSecret()}
	if m.CP.Status.AdminApplicationCredential == nil {
		seed, err := m.seed()
		if err != nil {
			return nil, err
		}
		data[clouds.Key] = seed
	}
	return &corev1.Secret{ObjectMeta: controlplane.ChildMeta(m.CP, m.CP.ApplicationCredentialName()), Data: data}, nil
}

// keepSecret keeps the secret of the application credential, and generates the first one.
func (m *manager) keepSecret(ctx context.Context) error {
	fresh, err := m.newSecret()
	if err != nil {
		return reconcile.WithReason(c5c3v1alpha1.ReasonSeedCloudsYamlError, err)
	}
	live, _, err := m.Owned.EnsureOnce(ctx, m.CP, fresh)
	if err != nil {
		return err
	}
	m.credential = live
	if len(live.Data[keyValue]) > 0 {
		return nil
	}
	return m.storeCredential(ctx, map[string][]byte{keyValue: identity.NewSecret(), clouds.Key: live.Data[clouds.Key]})
}

// keepClouds keeps a clouds.yaml with the password until there is one with the
// credential. The error is identity.ErrAsking while the credential in use is being
// verified.
func (m *manager) keepClouds(ctx context.Context) error {
	text, err := m.cloudsInUse(ctx, m.credential.Data[clouds.Key])
	if err != nil {
		return err
	}
	return m.storeCredential(ctx, map[string][]byte{keyValue: m.credential.Data[keyValue], clouds.Key: text})
}

// cloudsInUse returns the clouds.yaml with the credential of the stored one, under the
// current cloud name that K-ORC will look up. Without a credential, it contains the
// password. If nothing is stored although there is a credential, the Secret was lost. In
// that case the users keep their credential, which may have fewer rights than the
// administrator, as long as it works.
func (m *manager) cloudsInUse(ctx context.Context, stored []byte) ([]byte, error) {
	if id, secret := clouds.CredentialIn(stored); id != "" {
		return clouds.Credential(controlplane.AuthURL(m.CP), m.CP, id, secret)
	}
	if len(stored) > 0 || m.CP.Status.AdminApplicationCredential == nil {
		return m.seed()
	}
	delivered, err := m.deliveredClouds(ctx)
	if err != nil {
		return nil, err
	}
	id, secret := clouds.CredentialIn(delivered)
	if id == "" {
		return m.seed()
	}
	switch verdict, err := m.Proofs.Verdict(m.Name, controlplane.AuthURL(m.CP), id, secret, false); verdict {
	case ask.Accepted:
		return clouds.Credential(controlplane.AuthURL(m.CP), m.CP, id, secret)
	case ask.Unproven:
		return nil, fmt.Errorf("asking %s whether the credential in use works: %w", controlplane.AuthURL(m.CP), err)
	}
	return m.seed()
}

// seed returns a clouds.yaml with the administrator's password.
func (m *manager) seed() ([]byte, error) {
	return clouds.Seed(controlplane.AuthURL(m.CP), m.CP, m.adminPassword)
}

// keepImports ensures the imports, and returns the requeue delay, zero to wait for a
// watch.
func (m *manager) keepImports(ctx context.Context) (again time.Duration, err error) {
	with := m.importCloud(ctx)
	imports := []korc.Object{DomainImport(m.CP, with), UserImport(m.CP, with)}
	if m.credentialNamesIdentityService() {
		imports = append(imports, korc.IdentityService(m.CP))
	}
	for _, obj := range imports {
		wait, err := korc.Ensure(ctx, m.Pass, obj, pass.FailingSince(m.Pass, c5c3v1alpha1.ConditionKORCReady))
		if err != nil {
			return 0, err
		}
		again = reconcile.Sooner(again, wait)
	}
	m.imports = imports
	return again, nil
}

// importCloud returns the cloud of the users as soon as they have it, unless access rules
// limit it, which Keystone applies to its own API. K-ORC keeps the Secret of a cloud that an
// object refers to, also one of somebody else with its name. That the Secret cannot be read
// is reported by the delivery.
func (m *manager) importCloud(ctx context.Context) orcv1alpha1.CloudCredentialsReference {
	text, err := m.deliveredClouds(ctx)
	if err != nil || !clouds.HasCredential(text) || len(m.CP.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules) > 0 {
		return korc.AdminCloud(m.CP)
	}
	return korc.UserCloud(m.CP)
}

// credentialNamesIdentityService reports whether an access rule refers to Keystone
// itself: K-ORC then needs the Service of Keystone before it can create the credential.
func (m *manager) credentialNamesIdentityService() bool {
	rules := m.CP.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules
	return slices.ContainsFunc(rules, func(r c5c3v1alpha1.AccessRule) bool { return r.Service == m.CP.IdentityServiceName() })
}
