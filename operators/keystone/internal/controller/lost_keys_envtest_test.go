//go:build integration

package controller_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	esov1alpha1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1alpha1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/fernet"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

func TestKeysLostTogetherWithTheStatusAreNotReplaced(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[0])
	operator.Stop()
	keys := secret(k.Namespace, k.Name+"-fernet-keys", nil)
	expect.Exists(t, c, keys)
	objects.Delete(t, c, keys.DeepCopy())
	objects.ChangeStatus(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Status = keystonev1alpha1.KeystoneStatus{} })
	testutil.Start(t, asOperator, k.Namespace)
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionFalse, "KeysMissing")
	restored := secret(k.Namespace, keys.Name, nil)
	restored.Data = keys.Data
	objects.Create(t, c, restored)
	ready(t, c, k)
}

func TestLostKeysAreNeverReplacedSilently(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	for suffix, condition := range map[string]string{
		"-fernet-keys": "FernetKeysReady", "-credential-keys": "CredentialKeysReady",
	} {
		t.Run(condition, func(t *testing.T) {
			keys := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name + suffix}}
			expect.Exists(t, c, keys)
			objects.Delete(t, c, keys.DeepCopy())
			expect.Condition(t, c, k, condition, metav1.ConditionFalse, "KeysMissing", keys.Name, "backup")

			// Restored from a backup, without owner references.
			objects.Create(t, c, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: keys.Namespace, Name: keys.Name}, Data: keys.Data,
			})
			ready(t, c, k)
			restored := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: keys.Namespace, Name: keys.Name}}
			expect.Object(t, c, restored, func() error {
				if restored.Labels["app.kubernetes.io/instance"] != k.Name {
					return fmt.Errorf("the operator has not adopted it: %v", restored.Labels)
				}
				return nil
			})
			if diff := cmp.Diff(slices.Sorted(maps.Keys(keys.Data)), slices.Sorted(maps.Keys(restored.Data))); diff != "" ||
				string(restored.Data["0"]) != string(keys.Data["0"]) {
				t.Errorf("the restored keys were changed: %s", diff)
			}
		})
	}
}

func TestChangedCredentialKeysAreTestedBeforeTheStoreGetsThem(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	jobs.Set(k.Namespace, k.Name+"-key-check", standin.FailWith(78, "the database holds credentials that are encrypted with 1 other keys"))
	keys := secret(k.Namespace, k.Name+"-credential-keys", nil)
	expect.Exists(t, c, keys)
	foreign, err := fernet.Generate(3)
	if err != nil {
		t.Fatal(err)
	}
	push := &esov1alpha1.PushSecret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: keys.Name + "-backup"}}
	expect.Exists(t, c, push)
	objects.Change(t, c, keys.DeepCopy(), func(s *corev1.Secret) { s.Data = foreign })
	expect.Condition(t, c, k, "CredentialKeysReady", metav1.ConditionFalse, "KeysMissing", "cannot read the credentials", "1 other keys")
	after := push.DeepCopy()
	expect.Exists(t, c, after)
	if diff := cmp.Diff(push.Annotations, after.Annotations); diff != "" {
		t.Errorf("keys that cannot read the database are pushed to the store:\n%s", diff)
	}
	jobs.Set(k.Namespace, k.Name+"-key-check", standin.Succeed())
	objects.Change(t, c, keys.DeepCopy(), func(s *corev1.Secret) { s.Data = keys.Data })
	ready(t, c, k)
}
