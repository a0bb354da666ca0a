//go:build integration

package controller_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/thirdparty"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

var families = []string{"fernet-keys", "credential-keys"}

// backupPath is the path of a key family's copy in the store.
func backupPath(k *keystonev1alpha1.Keystone, family string) string {
	return "openstack/keystone/" + k.Namespace + "/" + k.Name + "/" + family
}

// setBackups sets the outcome of both PushSecrets of a Keystone.
func setBackups(eso *standin.ExternalSecrets, k *keystonev1alpha1.Keystone, o standin.Outcome) {
	for _, family := range families {
		eso.Set("PushSecret", k.Namespace, k.Name+"-"+family+"-backup", o)
	}
}

// expectStored waits until the store holds exactly the content of the key Secrets, and
// which database they belong to.
func expectStored(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) {
	t.Helper()
	for _, family := range families {
		expect.Eventually(t, "a copy of the keys in the store", func(ctx context.Context) error {
			keys := secret(k.Namespace, k.Name+"-"+family, nil)
			if err := c.Get(ctx, client.ObjectKeyFromObject(keys), keys); err != nil {
				return err
			}
			want := map[string]string{}
			for name, value := range keys.Data {
				want[name] = string(value)
			}
			want["database"] = keys.Annotations[commonv1.AnnotationDatabase]
			if diff := cmp.Diff(want, secrets.Stored(backupPath(k, family))); diff != "" {
				return errors.New("the copy differs from the Secret")
			}
			return nil
		})
	}
}

func expectNothingStored(t *testing.T, k *keystonev1alpha1.Keystone) {
	t.Helper()
	for _, family := range families {
		if copied := secrets.Stored(backupPath(k, family)); copied != nil {
			t.Errorf("the store still has %d values at %s", len(copied), backupPath(k, family))
		}
	}
}

func TestTheKeysAreCopiedToTheStoreAndTheCopyFollowsThem(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	expect.Condition(t, c, k, "BackupHealthy", metav1.ConditionTrue, "KeysBackedUp", "openstack/keystone/"+k.Namespace+"/keystone")
	expectStored(t, c, k)
	settle(t, c, k, operator)
	objects.Change(t, c, secret(k.Namespace, k.Name+"-fernet-keys", nil), func(s *corev1.Secret) {
		s.Data["0"], s.Data["1"] = s.Data["1"], s.Data["0"]
	})
	expectStored(t, c, k)
	settle(t, c, k, operator)
}

func TestACopyOfEarlierKeysDoesNotCountAsABackup(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	expectStored(t, c, k)
	setBackups(secrets, k, standin.Hang())
	objects.Change(t, c, secret(k.Namespace, k.Name+"-fernet-keys", nil), func(s *corev1.Secret) {
		s.Data["0"], s.Data["1"] = s.Data["1"], s.Data["0"]
	})
	expect.Condition(t, c, k, "BackupHealthy", metav1.ConditionFalse, "BackupPending")
	setBackups(secrets, k, standin.Succeed())
	expectStored(t, c, k)
	expect.Condition(t, c, k, "BackupHealthy", metav1.ConditionTrue, "KeysBackedUp")
}

func TestTheCopyOutlivesALostSecret(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	expectStored(t, c, k)
	copied := secrets.Stored(backupPath(k, "fernet-keys"))
	objects.Delete(t, c, secret(k.Namespace, k.Name+"-fernet-keys", nil))
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionFalse, "KeysMissing", backupPath(k, "fernet-keys"))
	if diff := cmp.Diff(copied, secrets.Stored(backupPath(k, "fernet-keys"))); diff != "" {
		t.Error("the copy changed")
	}
	// Restored by External Secrets for an ExternalSecret.
	objects.Create(t, c, secret(k.Namespace, k.Name+"-fernet-keys", copied))
	ready(t, c, k)
	expectStored(t, c, k)
}

func TestAFailingBackupIsReportedWithoutAffectingReady(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	operator := testutil.Start(t, asOperator, namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	setBackups(secrets, k, standin.Fail("Code: 503. Errors:\n\n* Vault is sealed"))
	objects.Create(t, c, k)
	ready(t, c, k)
	expect.Condition(t, c, k, "BackupHealthy", metav1.ConditionFalse, "BackupFailing",
		"keystone-fernet-keys-backup", "Errors: * Vault is sealed", "repair ClusterSecretStore openbao-cluster-store",
		"managed-by=external-secrets")
	settle(t, c, k, operator)
	expectEvent(t, c, k, "Warning BackupFailing")
	setBackups(secrets, k, standin.Succeed())
	expect.Condition(t, c, k, "BackupHealthy", metav1.ConditionTrue, "KeysBackedUp")
	expectStored(t, c, k)
}

func TestAForeignPushSecretIsNotAdopted(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	testutil.Start(t, asOperator, namespace)
	foreignPush := &esov1alpha1.PushSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keystone-fernet-keys-backup"}}
	foreignPush.Spec.SecretStoreRefs = []esov1alpha1.PushSecretStoreRef{{Name: "mine"}}
	foreignPush.Spec.Selector.Secret = &esov1alpha1.PushSecretSecret{Name: testutil.AdminSecret}
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, foreignPush, k)
	ready(t, c, k)
	expect.Condition(t, c, k, "BackupHealthy", metav1.ConditionFalse, "BackupFailing", "already exists", "rename or delete it")
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k)
	expect.Exists(t, c, foreignPush)
}

func TestDeletionRemovesTheKeysFromTheStore(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[1])
	expectStored(t, c, k)
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k.DeepCopy())
	expectNothingStored(t, k)
	expectNoChildren(t, c, k.Namespace)
	expectEvent(t, c, k, "Normal FinalizingOpenBaoSecrets")
	expectEvent(t, c, k, "Normal OpenBaoSecretsFinalized")
}

func TestDeletionWaitsUntilExternalSecretsHasAdoptedThePushSecrets(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, withCluster)
	testutil.Start(t, asOperator, namespace)
	k := testutil.Managed(namespace, testutil.Name)
	setBackups(secrets, k, standin.Hang())
	objects.Create(t, c, k)
	ready(t, c, k)
	expect.Condition(t, c, k, "BackupHealthy", metav1.ConditionFalse, "BackupPending")
	objects.Delete(t, c, k.DeepCopy())
	expect.Condition(t, c, k, "SecretsReady", metav1.ConditionFalse, "WaitingForESOAdoption",
		"keystone-fernet-keys-backup, keystone-credential-keys-backup", "start the controller of External Secrets")
	expect.Condition(t, c, k, "Ready", metav1.ConditionFalse, "Deleting", "External Secrets")
	setBackups(secrets, k, standin.Succeed())
	expect.Gone(t, c, k)
	expectNothingStored(t, k)
}

func TestDeletionReportsWhyTheStoreCopiesCannotBeRemoved(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[1])
	expectStored(t, c, k)
	setBackups(secrets, k, standin.Fail("Vault is sealed"))
	expect.Condition(t, c, k, "BackupHealthy", metav1.ConditionFalse, "BackupFailing",
		"keystone-fernet-keys-backup", "keystone-credential-keys-backup")
	setBackups(secrets, k, standin.Hang())
	objects.Delete(t, c, k.DeepCopy())
	expect.Condition(t, c, k, "SecretsReady", metav1.ConditionFalse, "OpenBaoFinalizerBlocked",
		"PushSecret keystone-credential-keys-backup (Vault is sealed)", "repair ClusterSecretStore openbao-cluster-store")
	setBackups(secrets, k, standin.Succeed())
	expect.Gone(t, c, k)
	expectNothingStored(t, k)
}

// impatient sets a short timeout of the waits for External Secrets during deletion.
func impatient(o *testutil.Options) { o.SecretStoreTimeout = time.Second }

func TestDeletionDoesNotWaitForeverForExternalSecrets(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, withCluster)
	testutil.Start(t, asOperator, namespace, impatient)
	k := testutil.Managed(namespace, testutil.Name)
	setBackups(secrets, k, standin.Hang())
	objects.Create(t, c, k)
	ready(t, c, k)
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k.DeepCopy())
	expectNoChildren(t, c, namespace)
	expectEvent(t, c, k, "Warning ESOAdoptionTimedOut")
}

func TestStoreCopiesAreRemovedAfterTheKeystoneOnceTheStoreIsUnsealed(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, withCluster)
	operator := testutil.Start(t, asOperator, namespace, impatient)
	k := testutil.Managed(namespace, testutil.Name)
	objects.Create(t, c, k)
	ready(t, c, k)
	backedUp(t, c, k)
	setBackups(secrets, k, standin.Hang())
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k.DeepCopy())
	expectEvent(t, c, k, "Warning OpenBaoFinalizerTimedOut")

	// A new Keystone of the name waits until the old copies are removed.
	again := testutil.Managed(namespace, testutil.Name)
	objects.Create(t, c, again)
	ready(t, c, again)
	expect.Condition(t, c, again, "BackupHealthy", metav1.ConditionFalse, "BackupPending", "still being removed")
	setBackups(secrets, k, standin.Succeed())
	expect.Condition(t, c, again, "BackupHealthy", metav1.ConditionTrue, "KeysBackedUp")
	expectStored(t, c, again)
	settle(t, c, again, operator)
}

func TestBackupsFollowTheInstallationOfExternalSecrets(t *testing.T) {
	t.Parallel()
	b := newBare(t)
	thirdparty.Install(t, b.env.Config, thirdparty.MariaDB)
	standin.Start(b, b.env.Config, standin.NewMariaDB())
	k := b.newKeystone(testutil.Managed, withCluster(""))
	ready(t, b.client, k)
	expect.Condition(t, b.client, k, "BackupHealthy", metav1.ConditionTrue, "BackupNotConfigured",
		"keystone-fernet-keys", "keep a copy yourself")

	thirdparty.Install(t, b.env.Config, thirdparty.ExternalSecrets)
	eso := standin.NewExternalSecrets()
	stop := standin.Start(b, b.env.Config, eso)
	expect.Condition(t, b.client, k, "BackupHealthy", metav1.ConditionTrue, "KeysBackedUp")

	// First its controller is stopped, then the Keystone is deleted, then its kinds are
	// removed.
	setBackups(eso, k, standin.Hang())
	objects.Delete(t, b.client, k.DeepCopy())
	expect.Condition(t, b.client, k, "SecretsReady", metav1.ConditionFalse, "OpenBaoFinalizerBlocked")
	setBackups(eso, k, standin.Succeed())
	thirdparty.Remove(t, b.env.Config, thirdparty.ExternalSecrets)
	stop()
	expect.Gone(t, b.client, k)

	// Without External Secrets the deletion has nothing to wait for.
	another := b.newKeystone(testutil.Managed, withCluster(""))
	ready(t, b.client, another)
	objects.Delete(t, b.client, another.DeepCopy())
	expect.Gone(t, b.client, another)
}

func TestAnErrorDuringDeletionIsVisible(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, withCluster)
	limited := testutil.Start(t, withoutRight(t, namespace, "pushsecrets", "delete"), namespace)
	k := testutil.Managed(namespace, testutil.Name)
	objects.Create(t, c, k)
	ready(t, c, k)
	expectStored(t, c, k)
	objects.Delete(t, c, k.DeepCopy())
	expect.Condition(t, c, k, "SecretsReady", metav1.ConditionFalse, "OpenBaoFinalizerBlocked", "deleting PushSecret", "forbidden")
	expectEvent(t, c, k, "Warning OpenBaoFinalizerBlocked")
	limited.Stop()
	testutil.Start(t, asOperator, namespace)
	expect.Gone(t, c, k)
}

// withoutRight is a user for one namespace's test with the operator's permissions except
// one verb on a resource.
func withoutRight(t *testing.T, namespace, resource, verb string) *rest.Config {
	t.Helper()
	data, err := os.ReadFile(rulesFile)
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	if err := yaml.UnmarshalStrict(data, &rules); err != nil {
		t.Fatal(err)
	}
	for i, rule := range rules {
		if slices.Contains(rule.Resources, resource) {
			rules[i].Verbs = slices.DeleteFunc(rule.Verbs, func(v string) bool { return v == verb })
		}
	}
	if data, err = yaml.Marshal(rules); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	limited, err := env.User(t.Context(), "keystone-operator-of-"+namespace+"-without-"+verb+"-"+resource, file)
	if err != nil {
		t.Fatal(err)
	}
	return limited
}

func TestACopyMissingFromTheStoreIsPushedAgain(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	var ahead atomic.Int64
	operator := testutil.Start(t, asOperator, namespace, func(o *testutil.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	ready(t, c, k)
	backedUp(t, c, k)
	for _, family := range families {
		secrets.Lose(backupPath(k, family))
	}
	settle(t, c, k, operator)
	expectNothingStored(t, k)
	if t.Failed() {
		t.Fatal("the copies were made again before their time")
	}

	ahead.Store(int64(time.Hour))
	pass(t, c, k, operator)
	expectStored(t, c, k)
	expect.Condition(t, c, k, "BackupHealthy", metav1.ConditionTrue, "KeysBackedUp")
	// Once per hour.
	settle(t, c, k, operator)
}

func TestKeysThatAreDamagedAreNotPushedAgain(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	var ahead atomic.Int64
	operator := testutil.Start(t, asOperator, namespace, func(o *testutil.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	ready(t, c, k)
	backedUp(t, c, k)
	copied := secrets.Stored(backupPath(k, "fernet-keys"))
	objects.Change(t, c, secret(namespace, k.Name+"-fernet-keys", nil), func(s *corev1.Secret) { s.Data["1"] = []byte("not a key") })
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionFalse, "KeysMissing")
	ahead.Store(int64(2 * time.Hour))
	settle(t, c, k, operator)
	if diff := cmp.Diff(copied, secrets.Stored(backupPath(k, "fernet-keys"))); diff != "" {
		t.Error("the copy changed")
	}
}
