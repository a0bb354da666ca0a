//go:build integration

package controller_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// keystoneClients is the NetworkPolicy that the operator adds to the Keystone's.
func (w *world) keystoneClients() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{ObjectMeta: w.meta("controlplane-keystone.clients")}
}

func TestTheKeystoneClientsPolicyIsAlsoOwnedByTheKeystone(t *testing.T) {
	t.Parallel()
	w := converged(t)
	w.restrict(t, true)
	w.admits(t, "c5c3-system", "orc-system")
	keystone, policy := w.keystone(t), w.keystoneClients()
	expect.Exists(t, w, keystone)
	expect.Object(t, w, policy, func() error {
		if !slices.ContainsFunc(policy.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == keystone.UID }) {
			return fmt.Errorf("only these own it, so that it stays when this operator is stopped: %v", policy.OwnerReferences)
		}
		if !metav1.IsControlledBy(policy, w.cp) {
			return errors.New("the ControlPlane does not control it")
		}
		return nil
	})
	expectQuiet(t, w, "controlplane", w.cp, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})
}

// restrict simulates a user who restricts the Keystone's clients, or stops doing so.
func (w *world) restrict(t *testing.T, restricted bool) {
	t.Helper()
	objects.Change(t, w, w.keystone(t), func(k *keystonev1alpha1.Keystone) {
		k.Spec.NetworkPolicy = nil
		if restricted {
			k.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{
				Ingress: []commonv1.NetworkPolicyIngressSource{{NamespaceSelector: map[string]string{"team": "cloud"}}},
			}
		}
	})
	w.report(t, "2025.2", "", true)
}

// admits waits until the NetworkPolicy admits exactly these namespaces.
func (w *world) admits(t *testing.T, namespaces ...string) {
	t.Helper()
	policy := w.keystoneClients()
	expect.Object(t, w, policy, func() error {
		var got []string
		for _, rule := range policy.Spec.Ingress {
			for _, peer := range rule.From {
				got = append(got, peer.NamespaceSelector.MatchLabels[corev1.LabelMetadataName])
			}
		}
		if diff := cmp.Diff(namespaces, got); diff != "" {
			return errors.New("it lets in (-want +got):\n" + diff)
		}
		return nil
	})
}

func TestARestrictedKeystoneAdmitsThisOperatorAndKORC(t *testing.T) {
	t.Parallel()
	w := converged(t)
	w.restrict(t, true)
	w.admits(t, "c5c3-system", "orc-system")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	expectQuiet(t, w, "controlplane", w.cp, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})

	objects.Change(t, w, w.keystoneClients(), func(p *networkingv1.NetworkPolicy) { p.Spec.Ingress = nil })
	w.admits(t, "c5c3-system", "orc-system")

	w.restrict(t, false)
	expect.Gone(t, w, w.keystoneClients())
	expectQuiet(t, w, "controlplane", w.cp, &corev1.Secret{ObjectMeta: w.meta("controlplane-keystone-admin-credentials")})
}

func TestARetainedKeystoneAdmitsItsClientsWhileItIsRestricted(t *testing.T) {
	t.Parallel()
	w := converged(t)
	w.restrict(t, true)
	w.admits(t, "c5c3-system", "orc-system")
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Keystone = nil })
	w.expect(t, "KeystoneReady", metav1.ConditionTrue, "KeystoneNotManaged")
	w.admits(t, "c5c3-system", "orc-system")
	w.restrict(t, false)
	expect.Gone(t, w, w.keystoneClients())
}
