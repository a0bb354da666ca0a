//go:build integration

package world

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/audit"
	"github.com/c5c3/forge/hack/bench/internal/objects"
	"github.com/c5c3/forge/hack/bench/internal/operators"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/short"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// closedAtTheEnd returns a World that is not open yet.
func closedAtTheEnd(t *testing.T, o *operators.Operator) *World {
	t.Helper()
	short.Skip(t)
	w := newWorld(Options{Root: "../../../..", Dir: t.TempDir(), Operator: o})
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestTheAuditLogHasTheRequestsOfTheOperatorAlone(t *testing.T) {
	w := closedAtTheEnd(t, operators.Keystones)
	earlier := `{"stage":"ResponseComplete","verb":"list","user":{"username":"` + operators.Keystones.Program() +
		`"},"objectRef":{"resource":"keystones"}}`
	if err := os.WriteFile(w.file("audit.log"), []byte(earlier+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.startServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	operator, err := client.New(w.user, client.Options{Scheme: operators.Keystones.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []client.Client{w.Client, operator} {
		if err := c.List(t.Context(), &keystonev1alpha1.KeystoneList{}); err != nil {
			t.Fatal(err)
		}
	}
	expect.Eventually(t, "one request in the audit log", func(context.Context) error {
		if err := w.Audit.Read(); err != nil {
			return err
		}
		if diff := cmp.Diff(audit.Counts{audit.Reads: 1}, w.Audit.Counts()); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
}

func TestTheControlPlaneEnvironmentHasAllPrerequisites(t *testing.T) {
	w := closedAtTheEnd(t, operators.ControlPlanes)
	if err := w.startServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	// An API server that is asked to stop waits for open watches.
	ctx, cancel := context.WithCancel(t.Context())
	w.onClose(func() error { cancel(); return nil })
	if err := standin.Run(ctx, w.administrator, operators.ControlPlanes.Controllers(w.Standins)...); err != nil {
		t.Fatal(err)
	}
	keys := operators.ControlPlanes.Keys("bench", 1, 1)
	if err := w.Prepare(ctx, keys); err != nil {
		t.Fatal(err)
	}
	if err := objects.Create(ctx, w.Client, operators.ControlPlanes.New(keys[0])); err != nil {
		t.Fatal(err)
	}
	planes := operators.ControlPlanes
	for _, edit := range []func(operators.Resource){planes.Grow, planes.Spoil, planes.Mend} {
		if err := w.Change(ctx, keys, edit); err != nil {
			t.Errorf("the API server refuses a change: %v", err)
		}
	}
	c, err := client.New(w.administrator, client.Options{Scheme: operators.Keystones.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	keystone := operators.Keystones.New(keys[0]).(*keystonev1alpha1.Keystone)
	if err := c.Create(ctx, keystone); err != nil {
		t.Fatal(err)
	}
	expect.Condition(t, c, keystone, "Ready", metav1.ConditionTrue, "AllReady")
	if keystone.Status.InstalledRelease != "2025.1" {
		t.Errorf("it has installed %q", keystone.Status.InstalledRelease)
	}
	if ready := meta.FindStatusCondition(keystone.Status.Conditions, "Ready"); ready.ObservedGeneration != keystone.Generation {
		t.Errorf("Ready is about generation %d of %d", ready.ObservedGeneration, keystone.Generation)
	}
}
