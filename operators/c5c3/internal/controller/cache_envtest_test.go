//go:build integration

package controller_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/operators/c5c3/internal/infraapi"
)

// cacheClients is the NetworkPolicy of the cache.
func (w *world) cacheClients() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: w.meta("openstack-memcached.clients")}
}

func TestDriftOfTheCacheNetworkPolicyIsRepaired(t *testing.T) {
	t.Parallel()
	w := converged(t)
	policy := w.cacheClients()
	expect.Exists(t, w, policy)
	uid, want := policy.UID, policy.Spec.DeepCopy()
	restored := func() error {
		if diff := cmp.Diff(want, &policy.Spec); diff != "" {
			return errors.New("it lets in (-want +got):\n" + diff)
		}
		return nil
	}
	objects.Change(t, w, policy, func(p *networkingv1.NetworkPolicy) { p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}} })
	expect.Object(t, w, policy, restored)
	objects.Delete(t, w, policy)
	again := w.cacheClients()
	expect.Object(t, w, again, func() error {
		if again.UID == uid {
			return errors.New("it is not deleted yet")
		}
		policy = again
		return restored()
	})
}

func TestAForeignCacheGetsNoNetworkPolicy(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	objects.Create(t, w, &infraapi.Memcached{ObjectMeta: w.meta("openstack-memcached")}, w.cp)
	w.expect(t, "InfrastructureReady", metav1.ConditionTrue, "InfrastructureReady")
	policy := w.cacheClients()
	if err := w.Get(t.Context(), client.ObjectKeyFromObject(policy), policy); !apierrors.IsNotFound(err) {
		t.Errorf("there is the NetworkPolicy %+v (%v)", policy.Spec, err)
	}
}

func TestTheNetworkPolicyIsDeletedWhenTheCacheIsNoLongerOwned(t *testing.T) {
	t.Parallel()
	w := converged(t)
	policy := w.cacheClients()
	expect.Exists(t, w, policy)
	memcached := &infraapi.Memcached{ObjectMeta: w.meta("openstack-memcached")}
	objects.Change(t, w, memcached, func(m *infraapi.Memcached) { m.OwnerReferences = nil })
	expect.Gone(t, w, policy)
	w.expect(t, "InfrastructureReady", metav1.ConditionTrue, "InfrastructureReady")
}
