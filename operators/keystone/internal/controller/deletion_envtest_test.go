//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// noChildren returns nil if nothing in the namespace belongs, or belonged, to a Keystone,
// including Pods. Objects that are meant to outlive it do not count.
func noChildren(ctx context.Context, c client.Client, namespace string) error {
	found, err := testutil.Children(ctx, c, namespace)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, testutil.Child.Outlives)
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return err
	}
	if len(found) > 0 || len(pods.Items) > 0 {
		return fmt.Errorf("there are %v and %d Pods", testutil.Names(found), len(pods.Items))
	}
	return nil
}

func expectNoChildren(t *testing.T, c client.Client, namespace string) {
	t.Helper()
	expect.Eventually(t, "a namespace without children", func(ctx context.Context) error {
		return noChildren(ctx, c, namespace)
	})
}

func TestDeletionEndsThoughKeysAreMissing(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[0])
	objects.Delete(t, c, secret(k.Namespace, k.Name+"-fernet-keys", nil))
	expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionFalse, "KeysMissing")
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k)
	expectNoChildren(t, c, k.Namespace)
}

// keysOf returns the contents of both key Secrets.
func keysOf(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) []map[string][]byte {
	t.Helper()
	found := make([]map[string][]byte, 0, len(families))
	for _, family := range families {
		keys := secret(k.Namespace, k.Name+"-"+family, nil)
		expect.Exists(t, c, keys)
		found = append(found, keys.Data)
	}
	return found
}

// retained is a managed Keystone whose data is kept on deletion.
func retained(namespace, name string) *keystonev1alpha1.Keystone {
	k := testutil.Managed(namespace, name)
	k.Spec.DeletionPolicy = commonv1.DeletionPolicyRetain
	return k
}

// expectKept deletes the Keystone and checks that the keys from before and their copies stay.
func expectKept(
	t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, before []map[string][]byte, policy metav1.DeletionPropagation,
) {
	t.Helper()
	objects.Delete(t, c, k.DeepCopy(), client.PropagationPolicy(policy))
	expect.Gone(t, c, k.DeepCopy())
	expectNoChildren(t, c, k.Namespace)
	if diff := cmp.Diff(before, keysOf(t, c, k)); diff != "" {
		t.Error("the keys are others than before")
	}
	expectStored(t, c, k)
	expectEvent(t, c, k, "Normal KeysKept")
}

func TestKeysOfARetainedDatabaseAreKept(t *testing.T) {
	for _, m := range []mode{modes[0], {"retained", withCluster, retained}} {
		for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
			t.Run(m.name+" "+string(policy), func(t *testing.T) {
				t.Parallel()
				c, k, _ := converged(t, m)
				expectKept(t, c, k, keysOf(t, c, k), policy)
				if dropped := mariadb.Dropped(k.Namespace); len(dropped) > 0 {
					t.Errorf("dropped from the MariaDB: %v", dropped)
				}
			})
		}
	}
}

// mariadb-operator keeps the volume of a deleted MariaDB.
func TestKeysAreKeptIfTheDatabaseServerIsGone(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			c, k, _ := converged(t, modes[1])
			before := keysOf(t, c, k)
			objects.Delete(t, c, testutil.MariaDB(k.Namespace))
			expectKept(t, c, k, before, policy)
		})
	}
}
