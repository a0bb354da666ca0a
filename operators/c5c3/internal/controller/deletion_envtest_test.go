//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/backing"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func (w *world) delete(t *testing.T) {
	t.Helper()
	objects.Delete(t, w, w.cp.DeepCopy())
}

// expectEnd waits until exactly one event, of the given reason, tells how the
// deletion ended. It is written after the control plane is gone.
func (w *world) expectEnd(t *testing.T, reason string) {
	t.Helper()
	expect.Eventually(t, "the event "+reason, func(context.Context) error {
		counts := map[string]int32{}
		for _, event := range expect.Events(t, w, w.cp) {
			counts[event.Reason] += event.Count
		}
		if counts["FinalizingORC"] == 1 {
			// A deletion that has nothing to wait for does not tell it.
			delete(counts, "FinalizingORC")
		}
		if diff := cmp.Diff(map[string]int32{reason: 1}, counts); diff != "" {
			return fmt.Errorf("events (-want +got):\n%s", diff)
		}
		return nil
	})
}

func TestDeletionLeavesNothingInKeystoneOrInTheStore(t *testing.T) {
	t.Parallel()
	w := converged(t)
	w.delete(t)
	expect.Gone(t, w, w.cp)
	for _, kind := range []string{"ApplicationCredential", "Service", "Endpoint"} {
		if left := korc.Names(w.cp.Namespace, kind); len(left) > 0 {
			t.Errorf("Keystone still has %v", left)
		}
	}
	if stored := secrets.Stored(fmt.Sprintf(credentialPath, w.cp.Namespace)); stored != nil {
		t.Error("the secret store still has the credential")
	}
	w.expectEnd(t, "ORCTeardownComplete")
}

func TestAControlPlaneOfTheSameNameCanBeMadeAgain(t *testing.T) {
	t.Parallel()
	w := converged(t)
	old := w.cp.Status.AdminApplicationCredential.ID
	w.delete(t)
	expect.Gone(t, w, w.cp)
	again := emptyWorld(t).cp
	again.Namespace = w.cp.Namespace
	w.cp = again
	objects.Create(t, w, w.cp)
	expect.Eventually(t, "a Keystone of the new control plane", func(ctx context.Context) error {
		k := &keystonev1alpha1.Keystone{}
		if err := w.Get(ctx, client.ObjectKey{Namespace: w.cp.Namespace, Name: "controlplane-keystone"}, k); err != nil {
			return err
		}
		if !metav1.IsControlledBy(k, w.cp) {
			return errors.New("it is the old one")
		}
		return nil
	})
	w.report(t, "2025.2", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	if id, err := w.works(t.Context()); err != nil || id == old {
		t.Errorf("the users have %q (%v)", id, err)
	}
}

func TestADeletionDoesNotWaitForEverForKORC(t *testing.T) {
	t.Parallel()
	w := converged(t)
	korc.Set("Service", w.cp.Namespace, "controlplane-identity-service", standin.Hang())
	ready, changes := w.follow(t), w.follow(t)
	w.delete(t)
	ready.Condition(t, "Ready", metav1.ConditionFalse, "Deleting")
	changes.Condition(t, "KORCReady", metav1.ConditionFalse, "FinalizingORC", "Service controlplane-identity-service")
	expect.Eventually(t, "an event that tells that the deletion waits", func(context.Context) error {
		events := expect.Events(t, w, w.cp)
		if !slices.ContainsFunc(events, func(e expect.Event) bool { return e.Reason == "FinalizingORC" }) {
			return fmt.Errorf("there are %+v", events)
		}
		return nil
	})
	w.pass(t, stall)
	expect.Gone(t, w, w.cp)
	w.expectEnd(t, "ORCTeardownStalled")
}

func TestAControlPlaneThatNeverGotReadyCanBeDeleted(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	objects.Create(t, w, w.cp)
	w.expect(t, "KORCReady", metav1.ConditionFalse, "WaitingForKeystone")
	w.delete(t)
	expect.Gone(t, w, w.cp)
}

func TestWhatAKeystoneTookWithItIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host     string
		database bool
		end      string
	}{
		"with its database":            {"", false, "ORCTeardownComplete"},
		"a database that lives on":     {"", true, "ORCTeardownStalled"},
		"a database of the user's own": {"db.example.com", true, "ORCTeardownStalled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := emptyWorld(t)
			w.seed()
			w.cp.Spec.Infrastructure.Database.Host = c.host
			c5c3v1alpha1.SetDefaults(w.cp)
			objects.Create(t, w, w.cp, &corev1.Secret{ObjectMeta: w.meta("keystone-admin"), Data: map[string][]byte{"password": []byte("theirs")}})
			w.report(t, "2025.2", "", true)
			w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
			korc.Set("Service", w.cp.Namespace, "controlplane-identity-service", standin.Hang())
			changes := w.follow(t)
			w.delete(t)
			changes.Condition(t, "KORCReady", metav1.ConditionFalse, "FinalizingORC", "Service controlplane-identity-service")
			if !c.database {
				w.deleteDatabase(t)
			}
			objects.Delete(t, w, w.keystone(t))
			expect.Gone(t, w, w.cp)
			w.expectEnd(t, c.end)
		})
	}
}

func (w *world) deleteDatabase(t *testing.T) {
	t.Helper()
	database := &backing.MariaDB{ObjectMeta: w.meta(w.cp.Spec.Infrastructure.Database.ClusterRef.Name)}
	objects.Delete(t, w, database)
	expect.Gone(t, w, database)
}

func TestADeletionThatWaitsForTheSecretStoreNamesItAndEnds(t *testing.T) {
	t.Parallel()
	w := converged(t)
	secrets.Set("PushSecret", w.cp.Namespace, "controlplane-admin-app-credential-backup", standin.Hang())
	changes := w.follow(t)
	w.delete(t)
	changes.Condition(t, "KORCReady", metav1.ConditionFalse, "FinalizingORC",
		"PushSecret controlplane-admin-app-credential-backup with its copy at "+fmt.Sprintf(credentialPath, w.cp.Namespace))
	w.pass(t, stall)
	expect.Gone(t, w, w.cp)
	w.expectEnd(t, "ORCTeardownStalled")
}
