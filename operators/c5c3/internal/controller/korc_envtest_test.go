//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil"
)

const credentialPath = "openstack/keystone/%s/controlplane/admin/app-credential"

// inUse returns the application credential that users of the control plane have now.
func (w *world) inUse(ctx context.Context) (id, secret string, err error) {
	return testutil.CredentialInUse(ctx, w, w.cp.Namespace)
}

// works fails unless Keystone accepts the users' current credential. One that was
// replaced and revoked between the two reads does not count.
func (w *world) works(ctx context.Context) (id string, err error) {
	id, secret, err := w.inUse(ctx)
	for err == nil && !korc.Accepts(w.cp.Namespace, id, secret) {
		refused := id
		if id, secret, err = w.inUse(ctx); err == nil && id == refused {
			return id, fmt.Errorf("keystone does not accept the credential %q", id)
		}
	}
	return id, err
}

// usersHave fails unless the users have that credential and it works.
func (w *world) usersHave(t *testing.T, want string) {
	t.Helper()
	if id, err := w.works(t.Context()); err != nil || id != want {
		t.Errorf("the users have %q instead of %q (%v)", id, want, err)
	}
}

// usersHaveNone checks that no credential has been delivered to the users.
func (w *world) usersHaveNone(t *testing.T) {
	t.Helper()
	if id, _, err := w.inUse(t.Context()); client.IgnoreNotFound(err) != nil || id != "" {
		t.Errorf("the users have %q (%v)", id, err)
	}
}

// replaced waits until the users have another credential than old, and checks throughout
// that the one they have works.
func (w *world) replaced(t *testing.T, old string) (id string) {
	t.Helper()
	expect.Eventually(t, "another credential", func(ctx context.Context) error {
		now, err := w.works(ctx)
		if err != nil {
			t.Error(err)
			return nil
		}
		if id = now; id == old {
			return errors.New("the users have the old one")
		}
		return nil
	})
	return id
}

// expectCredentials waits until Keystone has the number of application credentials.
func (w *world) expectCredentials(t *testing.T, n int) {
	t.Helper()
	expect.Eventually(t, fmt.Sprintf("%d application credentials", n), func(context.Context) error {
		if got := korc.Names(w.cp.Namespace, "ApplicationCredential"); len(got) != n {
			return fmt.Errorf("there are %v", got)
		}
		return nil
	})
}

func (w *world) credential(t *testing.T) *orcv1alpha1.ApplicationCredential {
	t.Helper()
	credential := &orcv1alpha1.ApplicationCredential{ObjectMeta: w.meta("controlplane-admin-app-credential")}
	expect.Exists(t, w, credential)
	return credential
}

// askForAnother requests a new credential as documented for users.
func (w *world) askForAnother(t *testing.T) {
	t.Helper()
	objects.Change(t, w, w.credential(t), func(c *orcv1alpha1.ApplicationCredential) {
		c.Annotations[c5c3v1alpha1.AnnotationAdminPasswordHash] = ""
	})
}

func TestTheDeliveredCredentialIsAcceptedByKeystone(t *testing.T) {
	t.Parallel()
	w := converged(t)
	id, err := w.works(t.Context())
	if err != nil || id != w.cp.Status.AdminApplicationCredential.ID {
		t.Errorf("the users have %q (%v), the status says %q", id, err, w.cp.Status.AdminApplicationCredential.ID)
	}
	if stored := secrets.Stored(fmt.Sprintf(credentialPath, w.cp.Namespace)); stored["clouds.yaml"] == "" || stored["value"] == "" {
		t.Error("the secret store has no copy")
	}
	for kind, want := range map[string]int{"Service": 1, "Endpoint": 1, "ApplicationCredential": 1} {
		if got := korc.Names(w.cp.Namespace, kind); len(got) != want {
			t.Errorf("Keystone has %d resources of kind %s: %v", len(got), kind, got)
		}
	}
}

func TestExistingCatalogEntriesAreAdopted(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	service := korc.Add(w.cp.Namespace, "Service", "keystone")
	endpoint := korc.Add(w.cp.Namespace, "Endpoint", "public http://controlplane-keystone."+w.cp.Namespace+".svc.cluster.local:5000/v3")
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "CatalogReady", metav1.ConditionTrue, "CatalogRegistered")
	for _, c := range []struct{ kind, id string }{{"Service", service}, {"Endpoint", endpoint}} {
		for name, id := range korc.Names(w.cp.Namespace, c.kind) {
			if id != c.id {
				t.Errorf("a second %s was made: %s", c.kind, name)
			}
		}
	}
}

func TestAChangedPasswordReplacesTheCredentialWithoutAGap(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	w.changePassword(t)
	w.replacedAfter(t, old)
	if got := w.cp.Status.AdminApplicationCredential.ID; got == old {
		t.Error("the status has the old one")
	}
}

func TestChangedAccessRulesReplaceTheCredential(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		c5c3v1alpha1.SetDefaults(cp)
		cp.Spec.KORC.AdminCredential.ApplicationCredential.Restricted = new(false)
		cp.Spec.KORC.AdminCredential.ApplicationCredential.AccessRules = []c5c3v1alpha1.AccessRule{
			{Service: "controlplane-identity-service", Method: "GET", Path: "/v3/users"},
		}
	})
	w.replacedAfter(t, old)
	if w.cp.Status.AdminApplicationCredential.Restricted {
		t.Error("the status says that it is restricted")
	}
	// Keystone applies the rules to its own API.
	user := &orcv1alpha1.User{ObjectMeta: w.meta("controlplane-user-admin")}
	expect.Object(t, w, user, func() error {
		if got := user.Spec.CloudCredentialsRef.SecretName; got != "controlplane-admin-password-cloud" {
			return errors.New("K-ORC reads the administrator with " + got)
		}
		return nil
	})
}

func TestInManualModeAPasswordChangeKeepsTheCredential(t *testing.T) {
	t.Parallel()
	w := converged(t, manual)
	old := w.cp.Status.AdminApplicationCredential.ID
	w.changePassword(t)
	cloud := &corev1.Secret{ObjectMeta: w.meta("controlplane-admin-password-cloud")}
	expect.Object(t, w, cloud, func() error {
		if text := string(cloud.Data["clouds.yaml"]); !strings.Contains(text, "another") {
			return errors.New("K-ORC has the old password")
		}
		return nil
	})
	w.usersHave(t, old)
}

func TestAFailedKORCObjectIsRetried(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	name := "controlplane-admin-app-credential"
	korc.Set("ApplicationCredential", w.cp.Namespace, name, standin.Fail("EOF"))
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "ApplicationCredentialFailed", "EOF", "correct what K-ORC reports")
	w.expect(t, "AdminCredentialReady", metav1.ConditionFalse, "WaitingForKORC")
	w.expect(t, "CatalogReady", metav1.ConditionFalse, "WaitingForAdminCredential")
	korc.Set("ApplicationCredential", w.cp.Namespace, name, standin.Succeed())
	korc.Set("Endpoint", w.cp.Namespace, "controlplane-identity-endpoint", standin.Fail("conflict"))
	w.expect(t, "CatalogReady", metav1.ConditionFalse, "CatalogFailed", "conflict", "correct what K-ORC reports")
	korc.Set("Endpoint", w.cp.Namespace, "controlplane-identity-endpoint", standin.Succeed())
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAFailedPushToTheStoreIsReported(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	push := "controlplane-admin-app-credential-backup"
	secrets.Set("PushSecret", w.cp.Namespace, push, standin.Fail("Vault is sealed"))
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "AdminCredentialReady", metav1.ConditionFalse, "WaitingForPushSecret",
		"PushSecret "+push+" has not stored the clouds.yaml", "repair the store", "Vault is sealed")
	secrets.Set("PushSecret", w.cp.Namespace, push, standin.Succeed())
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	secrets.Set("PushSecret", w.cp.Namespace, push, standin.Fail("Vault is sealed"))
	changes := w.follow(t)
	w.changePassword(t)
	changes.Condition(t, "AdminCredentialReady", metav1.ConditionFalse, "WaitingForPushSecret", "Vault is sealed")
	if _, err := w.works(t.Context()); err != nil {
		t.Errorf("the users have lost their credential: %v", err)
	}
	w.expectCredentials(t, 2)
	secrets.Set("PushSecret", w.cp.Namespace, push, standin.Succeed())
	w.expectCredentials(t, 1)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestBootstrapResourcesExistAndAreNeverDeletedInOpenStack(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	admin := korc.Add(w.cp.Namespace, "Project", "admin")
	c5c3v1alpha1.SetDefaults(w.cp)
	w.cp.Spec.KORC.AdminCredential.BootstrapResources = []c5c3v1alpha1.BootstrapResourceSpec{
		{Kind: "Project", Name: "admin"}, {Kind: "Project", Name: "Shared"}, {Kind: "Role", Name: "auditor"},
	}
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	got := w.cp.Status.BootstrapResources
	if len(got) != 3 || got[0].ID != admin || !got[1].Ready || got[2].ID == "" {
		t.Errorf("the status has %+v", got)
	}
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.KORC.AdminCredential.BootstrapResources = nil })
	for _, resource := range got[:2] {
		expect.Gone(t, w, &orcv1alpha1.Project{ObjectMeta: w.meta(resource.ObjectName)})
	}
	if names := korc.Names(w.cp.Namespace, "Project"); len(names) != 2 {
		t.Errorf("OpenStack has the projects %v", names)
	}
}

func TestAForeignApplicationCredentialIsNotAdopted(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	theirs := &orcv1alpha1.ApplicationCredential{
		ObjectMeta: w.meta("controlplane-admin-app-credential"), Spec: orcv1alpha1.ApplicationCredentialSpec{
			CloudCredentialsRef: orcv1alpha1.CloudCredentialsReference{SecretName: "x", CloudName: "x"},
			ManagementPolicy:    orcv1alpha1.ManagementPolicyManaged,
			Resource:            &orcv1alpha1.ApplicationCredentialResourceSpec{UserRef: "x", SecretRef: "x"},
		},
	}
	korc.Set("ApplicationCredential", w.cp.Namespace, theirs.Name, standin.Hang())
	objects.Create(t, w, theirs, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "ApplicationCredentialError", "already exists and has no controller")
	objects.Delete(t, w, w.cp)
	expect.Gone(t, w, w.cp)
	if got := w.credential(t); !got.DeletionTimestamp.IsZero() {
		t.Error("it was deleted")
	}
}

func TestTheCredentialWaitsForTheAdministratorsPassword(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.cp.Spec.Infrastructure.Database.Host = "db.example.com"
	c5c3v1alpha1.SetDefaults(w.cp)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "WaitingForAdminPassword", "Secret keystone-admin", "the key password")
	objects.Create(t, w, &corev1.Secret{ObjectMeta: w.meta("keystone-admin"), Data: map[string][]byte{"password": []byte("theirs")}})
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestACredentialThatIsNotProvenDoesNotReachTheUsers(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	unreachable.Store(w.cp.Namespace, true)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "AdminCredentialReady", metav1.ConditionFalse, "CredentialUnproven", "no route to host", "let the operator reach")
	w.usersHaveNone(t)
	unreachable.Delete(w.cp.Namespace)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestACredentialRevokedInKeystoneIsReplaced(t *testing.T) {
	t.Parallel()
	w := converged(t)
	revoked := w.cp.Status.AdminApplicationCredential.ID
	korc.Lose(w.cp.Namespace, revoked)
	// Only the next verification reveals it.
	w.pass(t, time.Hour)
	expect.Eventually(t, "another credential", func(ctx context.Context) error {
		id, err := w.works(ctx)
		if err == nil && id == revoked {
			err = errors.New("the users have the revoked one")
		}
		return err
	})
	w.expectCredentials(t, 1)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestTheSpecMayChangeWhileACredentialIsReplaced(t *testing.T) {
	t.Parallel()
	w := converged(t)
	first := w.cp.Status.AdminApplicationCredential.ID
	push := "controlplane-admin-app-credential-backup"
	secrets.Set("PushSecret", w.cp.Namespace, push, standin.Fail("Vault is sealed"))
	changes := w.follow(t)
	w.askForAnother(t)
	changes.Condition(t, "AdminCredentialReady", metav1.ConditionFalse, "WaitingForPushSecret", "Vault is sealed")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) {
		c5c3v1alpha1.SetDefaults(cp)
		cp.Spec.KORC.AdminCredential.ApplicationCredential.Restricted = new(false)
	})
	// The second credential never reached the users, and the third has to wait, too.
	expect.Eventually(t, "a credential that may make others", func(ctx context.Context) error {
		if id, err := w.works(ctx); err != nil || id != first {
			t.Errorf("the users have %q instead of %q (%v)", id, first, err)
		}
		if !ptr.Deref(w.credential(t).Spec.Resource.Unrestricted, false) {
			return errors.New("it is restricted")
		}
		return nil
	})
	secrets.Set("PushSecret", w.cp.Namespace, push, standin.Succeed())
	w.replaced(t, first)
	w.expectCredentials(t, 1)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	if w.cp.Status.AdminApplicationCredential.Restricted {
		t.Error("the status says that it is restricted")
	}
}

func manual(cp *c5c3v1alpha1.ControlPlane) { inMode(cp, c5c3v1alpha1.RotationManual) }

func inMode(cp *c5c3v1alpha1.ControlPlane, mode c5c3v1alpha1.RotationMode) {
	c5c3v1alpha1.SetDefaults(cp)
	cp.Spec.KORC.AdminCredential.ApplicationCredential.Rotation.Mode = mode
}
