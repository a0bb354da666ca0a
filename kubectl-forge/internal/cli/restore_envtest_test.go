//go:build integration

package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/testutil"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// requested waits for the restore that the ControlPlane requests, and completes it.
func requested(t *testing.T, cp *c5c3v1alpha1.ControlPlane) string {
	t.Helper()
	expect.Eventually(t, "a request", func(ctx context.Context) error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(cp), cp); err != nil {
			return err
		}
		if cp.PendingRestore() == "" {
			return errors.New("there is none")
		}
		return nil
	})
	at := cp.PendingRestore()
	change(t, cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Status.Restore = &c5c3v1alpha1.RestoreStatus{Request: at, CompletionTime: metav1.Now()}
		cp.Status.ObservedGeneration = cp.Generation
		cp.Status.Conditions = []metav1.Condition{testutil.True(vocabulary.ConditionReady, vocabulary.ReasonAllReady)}
	})
	return at
}

func TestAUsedDatabaseIsRestoredOnlyIfThatIsConfirmed(t *testing.T) {
	u := as(t, "operator")
	cp := backedUp(t, u.namespace)
	change(t, cp, func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Status.Services = []c5c3v1alpha1.ServiceStatus{{Name: "keystone", Release: "2025.2"}}
	})
	u.run(t, "restore").expect(t, CodeUsage, "confirm it with --replace")
	u.run(t, "restore", "--replace", "--time=yesterday").expect(t, CodeUsage, "--time=yesterday")
	end := u.start(t, "restore", "--replace", "--time=2026-11-21T01:00:00Z")
	if at := requested(t, cp); at != "2026-11-21T01:00:00Z" {
		t.Errorf("the time is %s", at)
	}
	end().expect(t, CodeOK, "restores the backup that is closest to 2026-11-21T01:00:00Z")
}

func TestAControlPlaneIsCreatedForItsRestore(t *testing.T) {
	u := as(t, "operator")
	manifest := filepath.Join(t.TempDir(), "controlplane.yaml")
	if err := os.WriteFile(manifest, []byte(`apiVersion: c5c3.io/v1alpha1
kind: ControlPlane
metadata: {name: controlplane, namespace: `+u.namespace+`}
spec:
  openStackRelease: "2025.2"
  services: {keystone: {}}
  backup:
    schedule: "0 1 * * *"
    encryptionKeySecretRef: {name: backup-key}
    storage: {persistentVolumeClaim: {claimName: backups}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	u.run(t, "restore", "controlplane/controlplane", "--filename", manifest).expect(t, CodeUsage, "omit controlplane/controlplane")
	u.run(t, "restore", "--filename", os.DevNull).expect(t, CodeUsage, "not the manifest of one ControlPlane")
	end := u.start(t, "restore", "--filename", manifest)
	cp := testutil.ControlPlane()
	cp.Namespace = u.namespace
	requested(t, cp)
	end().expect(t, CodeOK)
}
