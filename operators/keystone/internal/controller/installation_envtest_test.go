//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// unreadable is the result of the first db_sync on a database with credentials that no
// key can read.
var unreadable = standin.FailWith(78, "the database holds credentials that are encrypted with 1 other keys")

// formerKeys are the keys with which the credentials of a database were encrypted.
func formerKeys() map[string]string {
	return keySet("abc")
}

// keySet returns one key per letter.
func keySet(letters string) map[string]string {
	set := map[string]string{}
	for i, letter := range letters {
		set[strconv.Itoa(i)] = strings.Repeat(string(letter), 42) + "A="
	}
	return set
}

// onUsedDatabase creates a Keystone whose database holds credentials, after calling
// prepare.
func onUsedDatabase(
	t *testing.T, prepare func(k *keystonev1alpha1.Keystone),
) (client.Client, *keystonev1alpha1.Keystone, *testutil.Operator) {
	t.Helper()
	c, namespace := newNamespace(t, testutil.Secrets)
	operator := testutil.Start(t, asOperator, namespace)
	k := testutil.Brownfield(namespace, testutil.Name)
	jobs.Set(namespace, testutil.Name+"-db-sync", unreadable)
	prepare(k)
	objects.Create(t, c, k)
	return c, k, operator
}

// sealed puts the former keys into a store that does not return them yet.
func sealed(k *keystonev1alpha1.Keystone) {
	for _, family := range families {
		secrets.Put(backupPath(k, family), formerKeys())
		secrets.Set("ExternalSecret", k.Namespace, k.Name+"-"+family, standin.Fail("Vault is sealed"))
	}
}

func expectNoKeys(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) {
	t.Helper()
	keys := secret(k.Namespace, k.Name+"-credential-keys", nil)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(keys), keys); !apierrors.IsNotFound(err) {
		t.Errorf("there are credential keys that nobody asked for: %v", err)
	}
}

func TestKeysAreNotGeneratedForADatabaseEncryptedWithOtherKeys(t *testing.T) {
	t.Parallel()
	c, k, operator := onUsedDatabase(t, func(*keystonev1alpha1.Keystone) {})
	expect.Condition(t, c, k, "CredentialKeysReady", metav1.ConditionFalse, "KeysMissing", "restore it from its backup")
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "DBSyncFailed", "encrypted with 1 other keys")
	expectNoKeys(t, c, k)

	// Wrong keys are still rejected, and the right ones are accepted immediately.
	jobs.Set(k.Namespace, k.Name+"-db-sync", unreadable)
	objects.Create(t, c, secret(k.Namespace, k.Name+"-credential-keys", keySet("xyz")))
	expect.Condition(t, c, k, "CredentialKeysReady", metav1.ConditionFalse, "KeysMissing", "cannot read the credentials", "other keys")
	expectUnclaimed(t, c, k, "-credential-keys")
	jobs.Set(k.Namespace, k.Name+"-db-sync", standin.Succeed())
	objects.Change(t, c, secret(k.Namespace, k.Name+"-credential-keys", nil), func(s *corev1.Secret) {
		for name, value := range formerKeys() {
			s.Data[name] = []byte(value)
		}
	})
	ready(t, c, k)
	backedUp(t, c, k)
	settle(t, c, k, operator)
}

// expectUnclaimed fails unless the Secret is unchanged since its creation.
func expectUnclaimed(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, suffix string) {
	t.Helper()
	keys := secret(k.Namespace, k.Name+suffix, nil)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(keys), keys); err != nil {
		t.Fatal(err)
	}
	if len(keys.OwnerReferences) > 0 || len(keys.Labels) > 0 || len(keys.Annotations) > 0 {
		t.Errorf("Secret %s was claimed before its keys were found to fit: owners %v, labels %v, annotations %v",
			keys.Name, keys.OwnerReferences, keys.Labels, keys.Annotations)
	}
}

func TestAnExistingSecretWithoutUsableKeysIsReportedAndKept(t *testing.T) {
	for suffix, condition := range map[string]string{
		"-fernet-keys": "FernetKeysReady", "-credential-keys": "CredentialKeysReady",
	} {
		t.Run(condition, func(t *testing.T) {
			t.Parallel()
			c, namespace := newNamespace(t, testutil.Secrets)
			testutil.Start(t, asOperator, namespace)
			k := testutil.Brownfield(namespace, testutil.Name)
			objects.Create(t, c, secret(namespace, k.Name+suffix, map[string]string{"password": "of somebody else"}))
			objects.Create(t, c, k)
			expect.Condition(t, c, k, condition, metav1.ConditionFalse, "KeysMissing", k.Name+suffix, "does not hold usable keys")
			expectUnclaimed(t, c, k, suffix)

			objects.Change(t, c, secret(namespace, k.Name+suffix, nil), func(s *corev1.Secret) {
				s.Data = map[string][]byte{}
				for name, value := range formerKeys() {
					s.Data[name] = []byte(value)
				}
			})
			ready(t, c, k)
		})
	}
}

func TestKeysOfAnExistingDatabaseAreRestoredFromTheStore(t *testing.T) {
	t.Parallel()
	c, k, operator := onUsedDatabase(t, sealed)
	expect.Condition(t, c, k, "CredentialKeysReady", metav1.ConditionFalse, "GeneratingKeys", "Vault is sealed", "repair ClusterSecretStore")
	expectNoKeys(t, c, k)

	jobs.Set(k.Namespace, k.Name+"-db-sync", standin.Succeed())
	for _, family := range families {
		secrets.Set("ExternalSecret", k.Namespace, k.Name+"-"+family, standin.Succeed())
	}
	ready(t, c, k)
	backedUp(t, c, k)
	want := map[string][]byte{}
	for name, value := range formerKeys() {
		want[name] = []byte(value)
	}
	if diff := cmp.Diff([]map[string][]byte{want, want}, keysOf(t, c, k)); diff != "" {
		t.Error("the keys are others than those in the store")
	}
	for _, family := range families {
		expect.Gone(t, c, secret(k.Namespace, k.Name+"-"+family+"-stored", nil))
	}
	expectStored(t, c, k)
	settle(t, c, k, operator)
}

func TestTokenKeysDelayedByTheStoreAreAwaited(t *testing.T) {
	t.Parallel()
	c, k, _ := onUsedDatabase(t, sealed)
	expect.Condition(t, c, k, "CredentialKeysReady", metav1.ConditionFalse, "GeneratingKeys", "Vault is sealed")
	jobs.Set(k.Namespace, k.Name+"-db-sync", standin.Succeed())
	secrets.Set("ExternalSecret", k.Namespace, k.Name+"-credential-keys", standin.Succeed())
	expect.Eventually(t, "a database that is readable", func(context.Context) error {
		if len(jobs.Runs(k.Namespace, k.Name+"-db-sync")) == 0 {
			return errors.New("it is not")
		}
		return nil
	})
	// Later changes are observed by a pass that already knows about this.
	secrets.Set("ExternalSecret", k.Namespace, k.Name+"-fernet-keys", standin.Fail("Vault has no leader"))
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionFalse, "GeneratingKeys", "Vault has no leader")
	secrets.Set("ExternalSecret", k.Namespace, k.Name+"-fernet-keys", standin.Succeed())
	ready(t, c, k)
	keys := keysOf(t, c, k)
	if diff := cmp.Diff(keys[1], keys[0]); diff != "" {
		t.Error("the token keys are others than those in the store")
	}
	expectStored(t, c, k)
}

// The Job controller reports the completion of a Job with a delay of about two seconds.
func TestASlowJobControllerDoesNotDelayTheInstallation(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t, testutil.Secrets)
	testutil.Start(t, asOperator, namespace)
	tasks := []string{"-db-sync", "-schema-check", "-bootstrap"}
	for _, task := range tasks {
		jobs.Set(namespace, testutil.Name+task, standin.Exit())
	}
	k := testutil.Brownfield(namespace, testutil.Name)
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "Ready", metav1.ConditionTrue, "AllReady")
	if counted := k.Annotations["forge.c5c3.io/last-db-sync-job-uid"]; counted != "" {
		t.Errorf("Job %s was counted before it had ended", counted)
	}
	for _, task := range tasks {
		jobs.Set(namespace, testutil.Name+task, standin.Succeed())
	}
	expect.Object(t, c, k, func() error {
		for _, annotation := range []string{"forge.c5c3.io/last-db-sync-job-uid", "forge.c5c3.io/last-schema-check-job-uid"} {
			if k.Annotations[annotation] == "" {
				return fmt.Errorf("no annotation %s", annotation)
			}
		}
		return nil
	})
}
