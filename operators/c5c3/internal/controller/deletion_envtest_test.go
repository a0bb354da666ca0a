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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func (w *world) delete(t *testing.T) {
	t.Helper()
	objects.Delete(t, w, w.cp.DeepCopy())
}

// expectEnd waits until exactly one event, with the given reason, reports how the
// deletion ended. It is written after the control plane is gone.
func (w *world) expectEnd(t *testing.T, reason string) {
	t.Helper()
	expect.Eventually(t, "the event "+reason, func(context.Context) error {
		counts := map[string]int32{}
		for _, event := range expect.Events(t, w, w.cp) {
			counts[event.Reason] += event.Count
		}
		if counts["FinalizingORC"] == 1 {
			// A deletion that does not have to wait emits no such event.
			delete(counts, "FinalizingORC")
		}
		if diff := cmp.Diff(map[string]int32{reason: 1}, counts); diff != "" {
			return fmt.Errorf("events (-want +got):\n%s", diff)
		}
		return nil
	})
}

func TestDeletionRevokesTheCredentialAndKeepsTheCatalog(t *testing.T) {
	t.Parallel()
	w := converged(t)
	catalog := map[string]map[string]string{}
	for _, kind := range []string{"Service", "Endpoint"} {
		if catalog[kind] = korc.Names(w.cp.Namespace, kind); len(catalog[kind]) != 1 {
			t.Fatalf("Keystone has the %ss %v", kind, catalog[kind])
		}
	}
	w.delete(t)
	expect.Gone(t, w, w.cp)
	if left := korc.Names(w.cp.Namespace, "ApplicationCredential"); len(left) > 0 {
		t.Errorf("Keystone still has %v", left)
	}
	for kind, before := range catalog {
		if diff := cmp.Diff(before, korc.Names(w.cp.Namespace, kind)); diff != "" {
			t.Errorf("what Keystone's own bootstrap has entered (-before +after):\n%s", diff)
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

func TestADeletionDoesNotWaitForeverForKORC(t *testing.T) {
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

func TestADeletionDoesNotWaitForKORCOnceTheKeystoneDatabaseIsGone(t *testing.T) {
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

func TestTheDatabaseIsDroppedBeforeItsServer(t *testing.T) {
	t.Parallel()
	w := converged(t)
	server := &infraapi.MariaDB{ObjectMeta: w.meta(w.cp.Spec.Infrastructure.Database.ClusterRef.Name)}
	keystone := w.keystone(t)
	objects.Change(t, w, keystone, func(k *keystonev1alpha1.Keystone) { k.Finalizers = []string{"example.com/operator"} })
	database := w.database(t, keystone)
	mariadb.Set("Database", w.cp.Namespace, database.GetName(), standin.Hang())

	w.delete(t)
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "FinalizingKeystone", "Keystone controlplane-keystone")
	objects.Change(t, w, keystone, func(k *keystonev1alpha1.Keystone) { k.Finalizers = nil })
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "FinalizingKeystone", "Database controlplane-keystone")
	expect.Exists(t, w, server)
	if !server.DeletionTimestamp.IsZero() {
		t.Error("the server goes before the database is dropped")
	}
	mariadb.Set("Database", w.cp.Namespace, database.GetName(), standin.Succeed())
	expect.Gone(t, w, w.cp)
	if diff := cmp.Diff([]string{"Database controlplane-keystone"}, mariadb.Dropped(w.cp.Namespace)); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	expect.Gone(t, w, server)
	w.expectEnd(t, "ORCTeardownComplete")
}

func TestADeletionDoesNotWaitForeverForTheDatabase(t *testing.T) {
	t.Parallel()
	w := converged(t)
	database := w.database(t, w.keystone(t))
	mariadb.Set("Database", w.cp.Namespace, database.GetName(), standin.Hang())
	w.delete(t)
	w.expect(t, "KeystoneReady", metav1.ConditionFalse, "FinalizingKeystone", "Database controlplane-keystone")
	w.pass(t, stall)
	expect.Gone(t, w, w.cp)
	expect.Eventually(t, "an event that tells what may be left", func(context.Context) error {
		events := expect.Events(t, w, w.cp)
		if !slices.ContainsFunc(events, func(e expect.Event) bool { return e.Reason == "KeystoneTeardownStalled" }) {
			return fmt.Errorf("there are %+v", events)
		}
		return nil
	})
}

func TestADeletionDoesNotWaitForARetainedDatabase(t *testing.T) {
	t.Parallel()
	w := converged(t)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.DeletionPolicy = commonv1.DeletionPolicyRetain })
	keystone := w.keystone(t)
	objects.Change(t, w, keystone, func(k *keystonev1alpha1.Keystone) { k.Finalizers = []string{"example.com/operator"} })
	w.delete(t)
	expect.Gone(t, w, w.cp)
	objects.Change(t, w, keystone, func(k *keystonev1alpha1.Keystone) { k.Finalizers = nil })
}

// database simulates the Keystone operator, which creates one in the MariaDB.
func (w *world) database(t *testing.T, keystone *keystonev1alpha1.Keystone) client.Object {
	t.Helper()
	database := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"mariaDbRef": map[string]any{"name": w.cp.Spec.Infrastructure.Database.ClusterRef.Name},
	}}}
	database.SetGroupVersionKind(infraapi.DatabaseKind)
	database.SetNamespace(keystone.Namespace)
	database.SetName(keystone.Name)
	owner := metav1.NewControllerRef(keystone, keystonev1alpha1.GroupVersion.WithKind("Keystone"))
	database.SetOwnerReferences([]metav1.OwnerReference{*owner})
	objects.Create(t, w, database)
	expect.Object(t, w, database, func() error {
		if len(database.GetFinalizers()) == 0 {
			return errors.New("nobody has seen it yet")
		}
		return nil
	})
	return database
}

func (w *world) deleteDatabase(t *testing.T) {
	t.Helper()
	database := &infraapi.MariaDB{ObjectMeta: w.meta(w.cp.Spec.Infrastructure.Database.ClusterRef.Name)}
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
