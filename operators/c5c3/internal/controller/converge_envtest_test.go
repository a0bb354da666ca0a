//go:build integration

package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	"github.com/c5c3/forge/internal/common/testutil/transport"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestTheStatusOfAMinimalControlPlane(t *testing.T) {
	t.Parallel()
	w := converged(t)
	status := w.cp.Status.DeepCopy()
	status.Conditions = nil
	used := status.AdminApplicationCredential
	if used == nil || used.ID == "" || !used.Restricted || used.LastRotation == nil {
		t.Errorf("the application credential in use is %+v", used)
	}
	status.AdminApplicationCredential = nil
	if diff := cmp.Diff(&c5c3v1alpha1.ControlPlaneStatus{
		ObservedGeneration: w.cp.Generation, UpdatePhase: c5c3v1alpha1.UpdatePhaseIdle,
		Services: []c5c3v1alpha1.ServiceStatus{{Name: "keystone", Ready: true, Release: "2025.2"}},
	}, status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

func TestEveryChildBelongsToItsControlPlane(t *testing.T) {
	t.Parallel()
	w := converged(t)
	for _, child := range []client.Object{
		&infraapi.MariaDB{ObjectMeta: w.meta("openstack-db")}, &infraapi.Memcached{ObjectMeta: w.meta("openstack-memcached")},
		w.cacheClients(),
		&esov1.ExternalSecret{ObjectMeta: w.meta("controlplane-keystone-db-credentials")},
		&esov1.ExternalSecret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")},
		&keystonev1alpha1.Keystone{ObjectMeta: w.meta("controlplane-keystone")},
	} {
		expect.Exists(t, w, child)
		if !metav1.IsControlledBy(child, w.cp) {
			t.Errorf("%T %s has the owners %v", child, child.GetName(), child.GetOwnerReferences())
		}
		if got := child.GetLabels()["app.kubernetes.io/managed-by"]; got != "c5c3-operator" {
			t.Errorf("%T %s is managed by %q", child, child.GetName(), got)
		}
	}
	objects.Delete(t, w, w.cp)
	expect.Gone(t, w, w.cp)
	expect.Gone(t, w, &keystonev1alpha1.Keystone{ObjectMeta: w.meta("controlplane-keystone")})
	expect.Gone(t, w, &infraapi.MariaDB{ObjectMeta: w.meta("openstack-db")})
	expect.Gone(t, w, w.cacheClients())
}

func TestReplicasAndStorageSizesAreAppliedToTheServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(cp *c5c3v1alpha1.ControlPlane) {
		c5c3v1alpha1.SetDefaults(cp)
		cp.Spec.Infrastructure.Database.Replicas, cp.Spec.Infrastructure.Database.StorageSize = new(int32(1)), "512Mi"
		cp.Spec.Infrastructure.Cache.Replicas = 2
	})
	maria, cache := &infraapi.MariaDB{ObjectMeta: w.meta("openstack-db")}, &infraapi.Memcached{ObjectMeta: w.meta("openstack-memcached")}
	expect.Exists(t, w, maria)
	expect.Exists(t, w, cache)
	if *maria.Spec.Replicas != 1 || maria.Spec.Galera.Enabled || maria.Spec.Storage.Size.String() != "512Mi" || *cache.Spec.Replicas != 2 {
		t.Errorf("got %+v and %+v", maria.Spec, cache.Spec)
	}
}

func TestAUserSetStartupProbeIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	maria := &infraapi.MariaDB{ObjectMeta: w.meta("openstack-db")}
	expect.Exists(t, w, maria)
	const longer = 7200
	objects.Change(t, w, maria, func(m *infraapi.MariaDB) {
		m.Spec.Replicas = new(int32(5))
		m.Spec.StartupProbe = &infraapi.Probe{FailureThreshold: longer}
	})
	expect.Object(t, w, maria, func() error {
		if *maria.Spec.Replicas != 3 {
			return fmt.Errorf("%d replicas", *maria.Spec.Replicas)
		}
		return nil
	})
	if probe := maria.Spec.StartupProbe; probe == nil || probe.FailureThreshold != longer {
		t.Errorf("the probe is %+v", probe)
	}
}

func TestAUserSetStartupProbeIsKeptWhileTheCacheLags(t *testing.T) {
	filled := newWorld(t)
	expect.Exists(t, filled, &infraapi.MariaDB{ObjectMeta: filled.meta("openstack-db")})
	w := emptyWorld(t)
	w.seed()
	release := holds.Hold(func(watch *http.Request) bool { return transport.Parse(watch).Resource == "mariadbs" })
	t.Cleanup(release)
	objects.Create(t, w, w.cp)
	maria := &infraapi.MariaDB{ObjectMeta: w.meta("openstack-db")}
	expect.Exists(t, w, maria)
	const longer = 7200
	objects.Change(t, w, maria, func(m *infraapi.MariaDB) { m.Spec.StartupProbe = &infraapi.Probe{FailureThreshold: longer} })
	// One pass may have begun before the change.
	for range 2 {
		passes := log.passesOver("controlplane", w.cp)
		w.pass(t, time.Second)
		expect.Eventually(t, "a pass that takes the servers for new", func(context.Context) error {
			if log.passesOver("controlplane", w.cp) == passes {
				return errors.New("there was none")
			}
			return nil
		})
	}
	release()
	w.report(t, "2025.2", "", true)
	w.expect(t, "InfrastructureReady", metav1.ConditionTrue, "InfrastructureReady")
	if expect.Exists(t, w, maria); maria.Spec.StartupProbe.FailureThreshold != longer {
		t.Errorf("the probe is %+v", maria.Spec.StartupProbe)
	}
}

func TestForeignServersAreUsedUnchanged(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	maria := &infraapi.MariaDB{ObjectMeta: w.meta("openstack-db"), Spec: infraapi.MariaDBSpec{Replicas: new(int32(7))}}
	maria.Spec.Storage = &infraapi.Storage{}
	mariadb.Set("MariaDB", w.cp.Namespace, "openstack-db", standin.Fail("no quorum"))
	objects.Create(t, w, maria, w.cp)
	w.expect(t, "InfrastructureReady", metav1.ConditionFalse, "WaitingForDatabase", "no quorum")
	mariadb.Set("MariaDB", w.cp.Namespace, "openstack-db", standin.Succeed())
	w.expect(t, "InfrastructureReady", metav1.ConditionTrue, "InfrastructureReady")
	expect.Exists(t, w, maria)
	if *maria.Spec.Replicas != 7 || len(maria.OwnerReferences) > 0 || len(maria.Labels) > 0 {
		t.Errorf("the MariaDB was changed: %+v", maria)
	}
}

func TestAnExternalDatabaseUsesTheCredentialsOfTheUser(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	objects.Create(t, w, &corev1.Secret{ObjectMeta: w.meta("keystone-admin"), Data: map[string][]byte{"password": []byte("theirs")}})
	func(cp *c5c3v1alpha1.ControlPlane) {
		cp.Spec.Infrastructure.Database.Host = "db.example.com"
		c5c3v1alpha1.SetDefaults(cp)
		cp.Spec.Infrastructure.Cache.ClusterRef, cp.Spec.Infrastructure.Cache.Servers = nil, []string{"memcached.example.com"}
	}(w.cp)
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	w.expect(t, "DBCredentialsReady", metav1.ConditionTrue, "BrownfieldUserSuppliedCredential")
	w.expect(t, "AdminPasswordReady", metav1.ConditionTrue, "BrownfieldUserSuppliedCredential")
	k := w.keystone(t)
	db, admin := k.Spec.Database.SecretRef.Name, k.Spec.Bootstrap.AdminPasswordSecretRef.Name
	if db != "keystone-db" || admin != "keystone-admin" {
		t.Errorf("the Keystone reads %s and %s", db, admin)
	}
	for list, want := range map[client.ObjectList]int{
		&infraapi.MariaDBList{}: 0, &infraapi.MemcachedList{}: 0, &esov1.ExternalSecretList{}: 1,
	} {
		if err := w.List(t.Context(), list, client.InNamespace(w.cp.Namespace)); err != nil {
			t.Fatal(err)
		}
		if n := length(list); n != want {
			t.Errorf("%d items in %T, expected %d", n, list, want)
		}
	}
}

func length(list client.ObjectList) int {
	switch list := list.(type) {
	case *infraapi.MariaDBList:
		return len(list.Items)
	case *infraapi.MemcachedList:
		return len(list.Items)
	case *esov1.ExternalSecretList:
		return len(list.Items)
	}
	return -1
}
