//go:build integration

package cli

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestAServiceIsPausedAndResumed(t *testing.T) {
	u := as(t, "operator")
	k := readyKeystone(t, u.namespace)
	for _, step := range []struct {
		command string
		code    int
		says    string
		paused  bool
	}{
		{"resume", CodeOK, "keystone/keystone is already resumed", false},
		{"pause", CodeOK, "keystone/keystone paused", true},
		{"pause", CodeOK, "keystone/keystone is already paused", true},
		{"upgrade --to 2026.2", CodeUsage, "is paused: first run kubectl forge resume keystone/keystone", true},
		{"rotate fernet", CodeUsage, "is paused: first run kubectl forge resume keystone/keystone", true},
		{"resume", CodeOK, "keystone/keystone resumed", false},
	} {
		u.run(t, append(strings.Fields(step.command), "keystone/keystone")...).expect(t, step.code, step.says)
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
			t.Fatal(err)
		}
		if got := vocabulary.IsPaused(k); got != step.paused {
			t.Errorf("after %s it is paused: %t, want %t", step.command, got, step.paused)
		}
	}
}

func TestAServiceThatHibernatesIsNeitherUpgradedNorRotated(t *testing.T) {
	u := as(t, "operator")
	change(t, readyKeystone(t, u.namespace), func(k *keystonev1alpha1.Keystone) {
		meta.SetStatusCondition(&k.Status.Conditions, metav1.Condition{
			Type: vocabulary.ConditionReady, Status: metav1.ConditionFalse, Reason: vocabulary.ReasonHibernated,
		})
	})
	for _, command := range []string{"upgrade --to 2026.2", "rotate fernet"} {
		u.run(t, append(strings.Fields(command), "keystone/keystone")...).
			expect(t, CodeUsage, "keystone/keystone hibernates: first set spec.hibernation to false")
	}
}
