//go:build integration

package world

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/audit"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestTheAuditLogHasTheRequestsOfTheOperatorAlone(t *testing.T) {
	w := &World{options: Options{Root: "../../../..", Dir: t.TempDir()}}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	earlier := `{"stage":"ResponseComplete","verb":"list","user":{"username":"` + operatorName + `"},"objectRef":{"resource":"keystones"}}`
	if err := os.WriteFile(w.file("audit.log"), []byte(earlier+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.startServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	operator, err := client.New(w.user, client.Options{Scheme: scheme()})
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
