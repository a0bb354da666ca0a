//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// noChildren returns nil when nothing in the namespace belongs, or belonged, to
// a Keystone, Pods included. What is to outlive it does not count.
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

func TestDeletionRemovesAllThatTheKeystoneMade(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
			t.Run(string(policy), func(t *testing.T) {
				c, k, operator := converged(t, m)
				objects.Delete(t, c, k.DeepCopy(), client.PropagationPolicy(policy))
				expect.Gone(t, c, k.DeepCopy())
				expectNoChildren(t, c, k.Namespace)
				for _, input := range m.inputs(k.Namespace) {
					if err := c.Get(t.Context(), client.ObjectKeyFromObject(input), input); err != nil {
						t.Errorf("the user's own %T is gone: %v", input, err)
					}
				}
				expectEvent(t, c, k, "Normal DatabaseFinalized")
				operator.Stop()
				// In the foreground the garbage collector may be first.
				first := policy == metav1.DeletePropagationBackground
				wantDeletionEvents(t, c, k, m.name == "managed" && first, m.name != "managed" || first)
			})
		}
	})
}

// wantDeletionEvents checks the events of the database's stage. Whether it
// announced that it drops something is only looked at when exact is set.
func wantDeletionEvents(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone, drops, exact bool) {
	t.Helper()
	counts := map[string]int32{}
	for _, event := range expect.Events(t, c, k) {
		counts[event.Reason] += event.Count
	}
	want := map[string]int32{"DatabaseFinalized": 1}
	switch {
	case drops:
		want["FinalizingDatabase"] = 1
	case exact:
		want["FinalizingDatabase"] = 0
	}
	for reason, count := range want {
		if counts[reason] != count {
			t.Errorf("the event %s was seen %d times, expected %d", reason, counts[reason], count)
		}
	}
}

func TestDeletionEndsWhateverIsMissing(t *testing.T) {
	for _, tc := range []struct {
		name string
		mode mode
		loss func(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone)
	}{
		{"the Secrets are gone", modes[0], func(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) {
			for _, obj := range testutil.Secrets(k.Namespace) {
				objects.Delete(t, c, obj)
			}
			expect.Condition(t, c, k, "SecretsReady", metav1.ConditionFalse, "WaitingForDBCredentials")
		}},
		{"the keys are gone", modes[0], func(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) {
			objects.Delete(t, c, secret(k.Namespace, k.Name+"-fernet-keys", nil))
			expect.Condition(t, c, k, "FernetKeysReady", metav1.ConditionFalse, "KeysMissing")
		}},
		{"the spec is not valid", modes[0], func(t *testing.T, c client.Client, k *keystonev1alpha1.Keystone) {
			objects.Change(t, c, k, makeInvalid)
			expect.Condition(t, c, k, "Ready", metav1.ConditionFalse, "InvalidSpec")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c, k, _ := converged(t, tc.mode)
			tc.loss(t, c, k)
			objects.Delete(t, c, k.DeepCopy())
			expect.Gone(t, c, k)
			expectNoChildren(t, c, k.Namespace)
		})
	}
}

func TestAKeystoneThatNeverGotReadyCanBeDeleted(t *testing.T) {
	t.Parallel()
	c, namespace := newNamespace(t)
	testutil.Start(t, asOperator, namespace)
	k := testutil.Managed(namespace, testutil.Name)
	objects.Create(t, c, k)
	expect.Condition(t, c, k, "SecretsReady", metav1.ConditionFalse, "WaitingForDBCredentials")
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k)
	expectNoChildren(t, c, namespace)
}

// Pods keep their connections until garbage collection ends them, and DROP
// DATABASE waits for connections: a Keystone that waited for its Database to
// be gone would wait for ever.
func TestDeletionDoesNotWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[1])
	mariadb.Set("Database", k.Namespace, k.Name, standin.Hang())
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k)
	mariadb.Set("Database", k.Namespace, k.Name, standin.Succeed())
	expectNoChildren(t, c, k.Namespace)
}

func TestARecreatedKeystoneDoesNotCollideWithTheLast(t *testing.T) {
	inModes(t, func(t *testing.T, m mode) {
		c, k, _ := converged(t, m)
		before := keysOf(t, c, k)
		objects.Delete(t, c, k.DeepCopy())
		expect.Gone(t, c, k.DeepCopy())

		// At once: garbage collection has not removed the old children yet.
		again := m.keystone(k.Namespace, k.Name)
		objects.Create(t, c, again)
		ready(t, c, again)
		found := children(t, c, again)
		if stale := slices.ContainsFunc(found, func(child testutil.Child) bool {
			return !child.Outlives() && !metav1.IsControlledBy(&child, again)
		}); stale {
			t.Errorf("children of the old Keystone are left: %v", testutil.Names(found))
		}
		// The keys live exactly as long as the database.
		if kept, want := cmp.Diff(before, keysOf(t, c, again)) == "", k.ServiceSpec().KeepsData(); kept != want {
			t.Errorf("the new Keystone has the keys of the old one: %t, expected %t", kept, want)
		}
	})
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

// retained is a managed Keystone whose data is to stay.
func retained(namespace, name string) *keystonev1alpha1.Keystone {
	k := testutil.Managed(namespace, name)
	k.Spec.DeletionPolicy = commonv1.DeletionPolicyRetain
	return k
}

func TestADatabaseThatStaysKeepsItsKeys(t *testing.T) {
	for _, m := range []mode{modes[0], {"retained", withCluster, retained}} {
		for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
			t.Run(m.name+" "+string(policy), func(t *testing.T) {
				t.Parallel()
				c, k, _ := converged(t, m)
				before := keysOf(t, c, k)
				objects.Delete(t, c, k.DeepCopy(), client.PropagationPolicy(policy))
				expect.Gone(t, c, k.DeepCopy())
				expectNoChildren(t, c, k.Namespace)
				if diff := cmp.Diff(before, keysOf(t, c, k)); diff != "" {
					t.Error("the keys are others than before")
				}
				expectStored(t, c, k)
				expectEvent(t, c, k, "Normal KeysKept")
				if dropped := mariadb.Dropped(k.Namespace); len(dropped) > 0 {
					t.Errorf("dropped from the MariaDB: %v", dropped)
				}
			})
		}
	}
}

// mariadb-operator keeps the volume of a MariaDB that is deleted.
func TestADatabaseWhoseServerIsGoneKeepsItsKeys(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, modes[1])
	before := keysOf(t, c, k)
	objects.Delete(t, c, testutil.MariaDB(k.Namespace))
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k.DeepCopy())
	expectNoChildren(t, c, k.Namespace)
	if diff := cmp.Diff(before, keysOf(t, c, k)); diff != "" {
		t.Error("the keys are others than before")
	}
	expectStored(t, c, k)
	expectEvent(t, c, k, "Normal KeysKept")
}

func TestTheDeletionPolicyCanBeChanged(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, modes[1])
	before := keysOf(t, c, k)
	const keep, drop = commonv1.DeletionPolicyRetain, commonv1.DeletionPolicyDelete
	for _, policy := range []commonv1.DeletionPolicy{keep, drop, keep} {
		objects.Change(t, c, k, func(k *keystonev1alpha1.Keystone) { k.Spec.DeletionPolicy = policy })
		expect.Eventually(t, "Secrets that do as "+string(policy)+" says", func(context.Context) error {
			for _, child := range children(t, c, k) {
				if strings.HasSuffix(child.Name, "-keys") && child.Outlives() != (policy == keep) {
					return errors.New("it has not changed: " + child.String())
				}
			}
			return nil
		})
		settle(t, c, k, operator)
	}
	objects.Delete(t, c, k.DeepCopy())
	expect.Gone(t, c, k.DeepCopy())
	expectNoChildren(t, c, k.Namespace)
	if diff := cmp.Diff(before, keysOf(t, c, k)); diff != "" {
		t.Error("the keys are others than before")
	}
}
