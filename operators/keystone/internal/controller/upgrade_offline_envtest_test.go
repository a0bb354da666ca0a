//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/testutil"
)

// offlineMode is atOldRelease with a request to upgrade to farTag offline, and other
// annotations for that tag.
func offlineMode(others ...string) mode {
	m, old := atOldRelease, atOldRelease.keystone
	m.keystone = func(namespace, name string) *keystonev1alpha1.Keystone {
		k := old(namespace, name)
		k.Annotations = map[string]string{commonv1.AnnotationOfflineUpgrade: farTag}
		for _, annotation := range others {
			k.Annotations[annotation] = farTag
		}
		return k
	}
	return m
}

// release lets a held upgrade continue.
func release(t *testing.T, k *keystonev1alpha1.Keystone) {
	t.Helper()
	objects.Change(t, admin, k, func(k *keystonev1alpha1.Keystone) { delete(k.Annotations, commonv1.AnnotationHoldUpgrade) })
}

func TestBootstrapWaitsForTheEndOfAnOfflineUpgrade(t *testing.T) {
	t.Parallel()
	c, k, _ := converged(t, offlineMode(commonv1.AnnotationHoldUpgrade))
	setTag(t, c, k, farTag)
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "UpgradeHeld")
	before := jobs.Runs(k.Namespace, k.Name+"-bootstrap")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: testutil.AdminSecret}}
	objects.Change(t, c, secret, func(s *corev1.Secret) { s.StringData = map[string]string{"password": "another"} })
	expect.Condition(t, c, k, "BootstrapReady", metav1.ConditionFalse, "BootstrapInProgress", "it waits for the end of the offline upgrade")
	if after := jobs.Runs(k.Namespace, k.Name+"-bootstrap"); len(after) != len(before) {
		t.Errorf("bootstrap ran %d times, expected %d", len(after), len(before))
	}
	release(t, k)
	installed(t, c, k, farTag)
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionTrue, "DatabaseSynced", "(upgraded 2025.1 → 2027.2)")
	if after := jobs.Runs(k.Namespace, k.Name+"-bootstrap"); len(after) != len(before)+1 {
		t.Errorf("bootstrap ran %d times, expected once more than %d", len(after), len(before))
	}
	want := map[string]int{"db-sync": 2, "schema-check": 3}
	if got := runsOf(k); !maps.Equal(got, want) {
		t.Errorf("Jobs ran %v, expected %v", got, want)
	}
}

func TestARotationDuringAnOfflineUpgradeIsCompletedAfterIt(t *testing.T) {
	t.Parallel()
	c, k, operator := converged(t, offlineMode(commonv1.AnnotationHoldUpgrade))
	setTag(t, c, k, farTag)
	expect.Condition(t, c, k, "DatabaseReady", metav1.ConditionFalse, "UpgradeHeld")
	expectKeys(t, c, k.Namespace, "credential", rotateOnce(t, c, k.Namespace, "credential", 3, someTime))
	backdate(t, c, k.Namespace, "credential", propagation)
	settle(t, c, k, operator)
	migrations := func() int { return len(jobs.Runs(k.Namespace, k.Name+"-credential-migrate")) }
	if n := migrations(); n > 0 {
		t.Errorf("credentials were migrated %d times while the schema is that of another release", n)
	}
	release(t, k)
	installed(t, c, k, farTag)
	expect.Eventually(t, "a migration of the credentials", func(context.Context) error {
		if n := migrations(); n != 1 {
			return fmt.Errorf("there were %d", n)
		}
		return nil
	})
}
