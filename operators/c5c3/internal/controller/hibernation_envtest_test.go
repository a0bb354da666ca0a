//go:build integration

package controller_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/conformance"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestAControlPlaneHibernatesWithItsDatabaseServer(t *testing.T) {
	t.Parallel()
	k := controlPlanes(singleServer)
	k.Hibernation.Says = nil
	k.Hibernation.Stopped = func(ctx context.Context, namespace string) error {
		if err := stopped(ctx, namespace); err != nil {
			return err
		}
		database := &infraapi.MariaDB{}
		if err := conform.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "openstack-db"}, database); err != nil {
			return err
		}
		return none(database, database.Spec.Replicas)
	}
	conformance.Trial[*c5c3v1alpha1.ControlPlane]{Kind: k, World: &conform}.Hibernates(t)
}

func TestTheDatabaseStopsAfterTheServices(t *testing.T) {
	t.Parallel()
	w := converged(t, singleServer)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Hibernation = new(true) })
	keystone := w.keystone(t)
	expect.Object(t, w, keystone, func() error { return hibernation(keystone, true) })
	w.expect(t, "Ready", metav1.ConditionFalse, "Hibernating", "Keystone controlplane-keystone")
	database := &infraapi.MariaDB{ObjectMeta: metav1.ObjectMeta{Namespace: w.cp.Namespace, Name: "openstack-db"}}
	expect.Exists(t, w, database)
	if got := ptr.Deref(database.Spec.Replicas, 1); got != 1 {
		t.Errorf("the database has %d servers while Keystone still runs", got)
	}
	w.hibernateKeystone(t)
	w.expect(t, "Ready", metav1.ConditionFalse, "Hibernated")
	expect.Exists(t, w, database)
	if got := ptr.Deref(database.Spec.Replicas, 1); got != 0 {
		t.Errorf("the database has %d servers", got)
	}
}

func TestAServiceThatLeftTheSpecWakesWithItsControlPlane(t *testing.T) {
	t.Parallel()
	w := convergedWith(t, services.Placement)
	placement := w.resource(t, services.Placement)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Hibernation = new(true) })
	expect.Object(t, w, placement, func() error { return hibernation(placement, true) })
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Placement, cp.Spec.Hibernation = nil, nil })
	expect.Object(t, w, placement, func() error { return hibernation(placement, false) })
}

func TestADeletionStartsTheDatabaseOfAControlPlaneThatIsWaking(t *testing.T) {
	t.Parallel()
	w := converged(t, singleServer)
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Hibernation = new(true) })
	database := &infraapi.MariaDB{ObjectMeta: w.meta("openstack-db")}
	keystone := w.keystone(t)
	expect.Object(t, w, keystone, func() error { return hibernation(keystone, true) })
	w.hibernateKeystone(t)
	expect.Object(t, w, database, func() error { return none(database, database.Spec.Replicas) })
	w.expect(t, "Ready", metav1.ConditionFalse, "Hibernated")
	lift := w.refuse(t, "apply", "mariadbs", "openstack-db")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Hibernation = nil })
	w.expect(t, "InfrastructureReady", metav1.ConditionFalse, "MariaDBError")
	w.delete(t)
	lift()
	expect.Object(t, w, database, func() error {
		if ptr.Deref(database.Spec.Replicas, 1) == 0 {
			return fmt.Errorf("the database is stopped")
		}
		return nil
	})
	expect.Object(t, w, keystone, func() error { return hibernation(keystone, false) })
}

// hibernation returns nil if the service hibernates, or does not, as wanted.
func hibernation(resource commonv1.Describer, want bool) error {
	if got := ptr.Deref(resource.ServiceSpec().Hibernation, false); got != want {
		return fmt.Errorf("spec.hibernation is %t", got)
	}
	return nil
}

// hibernateKeystone simulates a Keystone operator that has stopped everything.
func (w *world) hibernateKeystone(t *testing.T) {
	t.Helper()
	objects.ChangeStatus(t, w, w.keystone(t), func(k *keystonev1alpha1.Keystone) {
		meta.SetStatusCondition(&k.Status.Conditions, metav1.Condition{
			Type: "Ready", Status: metav1.ConditionFalse, Reason: "Hibernated", ObservedGeneration: k.Generation,
		})
	})
}

func singleServer(cp *c5c3v1alpha1.ControlPlane) {
	c5c3v1alpha1.SetDefaults(cp)
	cp.Spec.Infrastructure.Database.Replicas = new(int32(1))
}

// stopped returns nil if the service and the cache of the control plane are stopped.
func stopped(ctx context.Context, namespace string) error {
	keystone, cache := &keystonev1alpha1.Keystone{}, &infraapi.Memcached{}
	if err := conform.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "controlplane-keystone"}, keystone); err != nil {
		return err
	}
	if !ptr.Deref(keystone.Spec.Hibernation, false) {
		return fmt.Errorf("Keystone runs")
	}
	if err := conform.Admin.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "openstack-memcached"}, cache); err != nil {
		return err
	}
	return none(cache, cache.Spec.Replicas)
}

func none(servers client.Object, replicas *int32) error {
	if got := ptr.Deref(replicas, 1); got != 0 {
		return fmt.Errorf("%T has %d servers", servers, got)
	}
	return nil
}
