//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// changePassword causes the credential to be replaced.
func (w *world) changePassword(t *testing.T) {
	t.Helper()
	objects.Change(t, w, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")}, func(s *corev1.Secret) {
		s.Data["password"] = []byte("another")
	})
}

// imported waits until K-ORC has found the administrator, for which it needs the first
// clouds.yaml.
func (w *world) imported(t *testing.T) {
	t.Helper()
	user := &orcv1alpha1.User{ObjectMeta: w.meta("controlplane-user-admin")}
	expect.Object(t, w, user, func() error {
		if !meta.IsStatusConditionTrue(user.Status.Conditions, "Available") {
			return errors.New("it is not imported yet")
		}
		return nil
	})
}

func (w *world) replacedAfter(t *testing.T, old string) {
	t.Helper()
	w.replaced(t, old)
	w.expectCredentials(t, 1)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestKORCGetsACloudsYamlBeforeKeystoneIsReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	expect.Exists(t, w, &corev1.Secret{ObjectMeta: w.meta("controlplane-admin-password-cloud")})
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "WaitingForKeystone")
	w.expect(t, "KORCReady", metav1.ConditionFalse, "WaitingForKeystone")
	// K-ORC retries failures with increasing delays.
	user := &orcv1alpha1.User{ObjectMeta: w.meta("controlplane-user-admin")}
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(user), user); !apierrors.IsNotFound(err) {
		t.Errorf("K-ORC is to ask a Keystone that is not ready (%v)", err)
	}
}

// The clouds.yaml changes once: it has the administrator's password first, then the
// application credential. Only that is pushed, since the store keeps earlier versions.
func TestTheCredentialSecretIsWrittenOncePerContent(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	credential := &corev1.Secret{ObjectMeta: w.meta("controlplane-admin-app-credential")}
	push := &esov1alpha1.PushSecret{ObjectMeta: w.meta(credential.Name + "-backup")}
	delivery := &esov1.ExternalSecret{ObjectMeta: w.meta("k-orc-clouds-yaml")}
	credentials, pushes := expect.Follow(t, env.Config, w, credential), expect.Follow(t, env.Config, w, push)
	contents, deliveries := expect.Follow(t, env.Config, w, push), expect.Follow(t, env.Config, w, delivery)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	if n := credentials.Values(t, "data"); n != 2 {
		t.Errorf("the Secret of the credential has had %d contents", n)
	}
	if n := contents.Values(t, "metadata", "annotations", "c5c3.io/push-content-hash"); n != 1 {
		t.Errorf("%d contents of it were pushed to the store", n)
	}
	// A push is repeated when the users do not have the credential in time.
	pushed := pushes.Values(t, "metadata", "annotations")
	if n := deliveries.Values(t, "metadata", "annotations"); n > pushed {
		t.Errorf("External Secrets was to deliver the credential %d times, after %d pushes", n, pushed)
	}
}

func TestADeliveryThatFailsIsNamed(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	secrets.Set("ExternalSecret", w.cp.Namespace, "k-orc-clouds-yaml", standin.Fail("permission denied at the store"))
	changes := w.follow(t)
	w.changePassword(t)
	changes.Condition(t, "AdminCredentialReady", metav1.ConditionFalse, "WaitingForCloudsYaml",
		"ExternalSecret k-orc-clouds-yaml has not delivered its Secret: permission denied at the store")
	w.usersHave(t, old)
	secrets.Set("ExternalSecret", w.cp.Namespace, "k-orc-clouds-yaml", standin.Succeed())
	w.replacedAfter(t, old)
}

func TestAMissingDeliveryIsReportedAndLaterMarkedAsStuck(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	secrets.Set("ExternalSecret", w.cp.Namespace, "k-orc-clouds-yaml", standin.Hang())
	changes := w.follow(t)
	w.changePassword(t)
	changes.Condition(t, "AdminCredentialReady", metav1.ConditionFalse, "WaitingForCloudsYamlSync",
		"Secret k-orc-clouds-yaml does not hold the current clouds.yaml yet")
	w.pass(t, time.Hour)
	w.expect(t, "AdminCredentialReady", metav1.ConditionFalse, "CloudsYamlSyncStuck",
		"has not reached its users for 15m0s", "Secret k-orc-clouds-yaml does not hold")
	w.usersHave(t, old)
	secrets.Set("ExternalSecret", w.cp.Namespace, "k-orc-clouds-yaml", standin.Succeed())
	w.replacedAfter(t, old)
}

// It is not parallel because all tests share the store.
func TestABrokenStoreThatBlocksACredentialIsReported(t *testing.T) {
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	const store = "openbao-cluster-store"
	secrets.Set("ExternalSecret", w.cp.Namespace, "k-orc-clouds-yaml", standin.Hang())
	secrets.Set("ClusterSecretStore", "", store, standin.Fail("sealed"))
	t.Cleanup(func() { secrets.Set("ClusterSecretStore", "", store, standin.Succeed()) })
	changes := w.follow(t)
	w.changePassword(t)
	changes.Condition(t, "AdminCredentialReady", metav1.ConditionFalse, "SecretStoreNotReady", "ClusterSecretStore "+store+
		" is not ready, so the clouds.yaml cannot reach Secret k-orc-clouds-yaml; repair the store")
	fresh := newWorld(t)
	fresh.expect(t, "AdminPasswordReady", metav1.ConditionTrue, "AdminPasswordReady")
	empty := emptyWorld(t)
	objects.Create(t, empty, empty.cp)
	empty.expect(t, "AdminPasswordReady", metav1.ConditionFalse, "SecretStoreNotReady", "ClusterSecretStore "+store+" is not ready")
	secrets.Set("ClusterSecretStore", "", store, standin.Succeed())
	secrets.Set("ExternalSecret", w.cp.Namespace, "k-orc-clouds-yaml", standin.Succeed())
	w.replacedAfter(t, old)
}

// A Secret restored from a backup refers to a credential that may still exist in Keystone
// with another secret: K-ORC adopts it by its name.
func TestARejectedCredentialIsReplacedBeforeItsDelivery(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	id := korc.Add(w.cp.Namespace, "ApplicationCredential", "controlplane-admin-app-credential-"+shortHash("restored"))
	restored := &corev1.Secret{
		ObjectMeta: w.meta("controlplane-admin-app-credential"), StringData: map[string]string{"value": "restored"},
	}
	changes := w.follow(t)
	objects.Create(t, w, restored, w.cp)
	w.report(t, "2025.2", "", true)
	changes.Condition(t, "AdminCredentialReady", metav1.ConditionFalse, "CredentialRejected",
		"Keystone rejects the application credential "+id+"; a new one is created")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	if used, err := w.works(t.Context()); err != nil || used == id {
		t.Errorf("the users have %q (%v)", used, err)
	}
	w.expectCredentials(t, 1)
}

// The operator reconciles two control planes at a time.
func TestUnresponsiveKeystonesDoNotDelayOtherControlPlanes(t *testing.T) {
	t.Parallel()
	speaks := make(chan struct{})
	speak := sync.OnceFunc(func() { close(speaks) })
	t.Cleanup(speak)
	var waiting []*world
	for range 3 {
		w := emptyWorld(t)
		silent.Store(w.cp.Namespace, speaks)
		w.seed()
		objects.Create(t, w, w.cp)
		w.report(t, "2025.2", "", true)
		waiting = append(waiting, w)
	}
	for _, w := range waiting {
		w.expectCredentials(t, 1)
	}
	converged(t)
	speak()
	for _, w := range waiting {
		w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	}
}

func TestAnEntryInTheCatalogIsAwaitedByName(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	korc.Set("Endpoint", w.cp.Namespace, "controlplane-identity-endpoint", standin.Hang())
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "CatalogReady", metav1.ConditionFalse, "WaitingForCatalog",
		"Endpoint controlplane-identity-endpoint (K-ORC has not processed it yet)")
	korc.Set("Endpoint", w.cp.Namespace, "controlplane-identity-endpoint", standin.Succeed())
	w.expect(t, "CatalogReady", metav1.ConditionTrue, "CatalogRegistered", "controlplane-keystone."+w.cp.Namespace)
}

func TestABootstrapResourceIsAwaitedByName(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	c5c3v1alpha1.SetDefaults(w.cp)
	w.cp.Spec.KORC.AdminCredential.BootstrapResources = []c5c3v1alpha1.BootstrapResourceSpec{{Kind: "Role", Name: "auditor"}}
	korc.Set("Role", w.cp.Namespace, auditorObject, standin.Fail("no rights on the system"))
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "WaitingForBootstrapResources", "Role "+auditorObject, "no rights on the system")
	korc.Set("Role", w.cp.Namespace, auditorObject, standin.Succeed())
	w.expect(t, "KORCReady", metav1.ConditionTrue, "ApplicationCredentialMinted", "The administrator has the application credential")
	w.expect(t, "AdminCredentialReady", metav1.ConditionTrue, "AdminCredentialReady", "Secret k-orc-clouds-yaml has")
	w.expect(t, "KeystoneReady", metav1.ConditionTrue, "KeystoneReady", "Keystone controlplane-keystone is ready")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestWithoutAKeystoneTheKORCConditionsAreNotManaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone = nil })
	w.expect(t, "KORCReady", metav1.ConditionTrue, "KeystoneNotManaged", "spec.services.keystone is not set")
	w.expect(t, "AdminCredentialReady", metav1.ConditionTrue, "KeystoneNotManaged", "spec.services.keystone is not set")
	w.expect(t, "CatalogReady", metav1.ConditionTrue, "KeystoneNotManaged", "spec.services.keystone is not set")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}

func TestAnOldCredentialRestoredInTheStoreIsOverwritten(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	path := fmt.Sprintf(credentialPath, w.cp.Namespace)
	backup := secrets.Stored(path)
	w.changePassword(t)
	now := w.replaced(t, old)
	w.expectCredentials(t, 1)
	secrets.Put(path, backup)
	// External Secrets reads the store again.
	objects.Change(t, w, &esov1.ExternalSecret{ObjectMeta: w.meta("k-orc-clouds-yaml")}, func(es *esov1.ExternalSecret) {
		metav1.SetMetaDataAnnotation(&es.ObjectMeta, "looked-at", "again")
	})
	expect.Eventually(t, "the copy of the store", func(ctx context.Context) error {
		if id, _, err := w.inUse(ctx); err != nil || id != now || secrets.Stored(path)["clouds.yaml"] == backup["clouds.yaml"] {
			return fmt.Errorf("the users have %q instead of %q (%w)", id, now, err)
		}
		return nil
	})
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
}
