//go:build integration

package cli

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

func TestAServiceIsPausedAndResumed(t *testing.T) {
	u := as(t, "operator")
	k := readyKeystone(t, u.namespace)
	for _, step := range []struct {
		command, says string
		paused        bool
	}{
		{"resume", "keystone/keystone is already resumed", false},
		{"pause", "keystone/keystone paused", true},
		{"pause", "keystone/keystone is already paused", true},
		{"resume", "keystone/keystone resumed", false},
	} {
		u.run(t, step.command, "keystone/keystone").expect(t, CodeOK, step.says)
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(k), k); err != nil {
			t.Fatal(err)
		}
		if got := vocabulary.IsPaused(k); got != step.paused {
			t.Errorf("after %s it is paused: %t, want %t", step.command, got, step.paused)
		}
	}
}
