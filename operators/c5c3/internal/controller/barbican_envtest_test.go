//go:build integration

package controller_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

func TestASecretStoreComesAndGoesWithTheBarbicanOfItsControlPlane(t *testing.T) {
	t.Parallel()
	w := emptyWorld(t)
	w.seed()
	w.seedService(services.Barbican)
	w.cp.Spec.Services.Barbican = &c5c3v1alpha1.ServiceBarbicanSpec{SecretStores: []c5c3v1alpha1.ServiceBarbicanSecretStoreSpec{{
		Name: "vault", SecretStoreSpec: barbicanv1alpha1.SecretStoreSpec{
			Type: barbicanv1alpha1.StoreVault, Vault: barbicanv1alpha1.VaultSpec{
				URL: "https://vault.example.com", KVMountpoint: "barbican",
				CredentialsSecretRef: commonv1.CredentialsReference{Name: "vault"},
			},
		},
	}}}
	objects.Create(t, w, w.cp)
	w.report(t, "2025.2", "", true)
	w.reportService(t, services.Barbican, "2025.2", true)
	w.expect(t, "BarbicanReady", metav1.ConditionFalse, "WaitingForBarbican", "BarbicanSecretStore vault is not ready")
	store := &barbicanv1alpha1.BarbicanSecretStore{ObjectMeta: w.meta("vault")}
	expect.Exists(t, w, store)
	w.judge(t, store, metav1.ConditionTrue, "AllReady", "")
	w.expect(t, "Ready", metav1.ConditionTrue, "AllReady")
	barbican := w.resource(t, services.Barbican).(*barbicanv1alpha1.Barbican)
	if barbican.Spec.DefaultSecretStore != "vault" || store.Spec.BarbicanRef.Name != barbican.Name {
		t.Errorf("store %+v of a Barbican with the default %q", store.Spec, barbican.Spec.DefaultSecretStore)
	}
	objects.Change(t, w, w.cp, func(cp *c5c3v1alpha1.ControlPlane) { cp.Spec.Services.Barbican.SecretStores = nil })
	expect.Gone(t, w, store)
	w.reportService(t, services.Barbican, "2025.2", true)
	w.expect(t, "BarbicanReady", metav1.ConditionTrue, "BarbicanReady")
	if barbican = w.resource(t, services.Barbican).(*barbicanv1alpha1.Barbican); barbican.Spec.DefaultSecretStore != "" {
		t.Errorf("the default is %q", barbican.Spec.DefaultSecretStore)
	}
}
