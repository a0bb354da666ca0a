package services

import (
	"context"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func TestASecondServiceIsCreatedAndItsStatusReported(t *testing.T) {
	p := newPlant(t, withSundial())
	p.pass(t)
	p.keystoneIsReady(t)
	p.pass(t)
	p.sundialIs(t, "2025.1", "", metav1.ConditionFalse)
	cp := p.pass(t)
	expectCondition(t, cp, "SundialReady", metav1.ConditionFalse, "WaitingForSundial", "Sundial controlplane-sundial is not ready: no sun")
	expectCondition(t, cp, "KeystoneReady", metav1.ConditionTrue, "KeystoneReady", "Keystone controlplane-keystone is ready")
	want := []c5c3v1alpha1.ServiceStatus{
		{Name: "keystone", Ready: true, Release: "2025.2"}, {Name: "sundial", Ready: false, Release: "2025.1"},
	}
	if diff := cmp.Diff(want, cp.Status.Services); diff != "" {
		t.Errorf("status.services (-want +got):\n%s", diff)
	}
	child := &sundial{}
	p.get(t, child, sundialName)
	if !metav1.IsControlledBy(child, cp) || child.Spec.Image.Tag != "2025.2" {
		t.Errorf("the child has image %+v and owners %+v", child.Spec.Image, child.OwnerReferences)
	}
	if cp.Status.UpdatePhase != c5c3v1alpha1.UpdatePhaseUpdating {
		t.Errorf("the update is in phase %s", cp.Status.UpdatePhase)
	}

	p.sundialIs(t, "2025.2", "", metav1.ConditionTrue)
	cp = p.pass(t)
	expectCondition(t, cp, "SundialReady", metav1.ConditionTrue, "SundialReady", "Sundial controlplane-sundial is ready")
	if status := cp.Status.Services[1]; !status.Ready || cp.Status.UpdatePhase != c5c3v1alpha1.UpdatePhaseIdle {
		t.Errorf("got %+v in phase %s", status, cp.Status.UpdatePhase)
	}
}

func TestASecondServiceIsEnteredInTheCatalog(t *testing.T) {
	p := newPlant(t, withSundial())
	cp := p.begins(t)
	waiting := meta.FindStatusCondition(cp.Status.Conditions, "CatalogReady")
	if waiting == nil || waiting.Reason != "WaitingForCatalog" {
		t.Errorf("CatalogReady is %+v", waiting)
	}
	service := &orcv1alpha1.Service{}
	p.get(t, service, "controlplane-time-service")
	if service.Spec.Resource.Type != "time" || *service.Spec.Resource.Name != "sundial" {
		t.Errorf("the service is %+v", service.Spec.Resource)
	}
	for name, url := range map[string]string{
		"controlplane-time-endpoint": "https://sundial.example.com", "controlplane-time-internal-endpoint": "http://sundial",
	} {
		endpoint := &orcv1alpha1.Endpoint{}
		p.get(t, endpoint, name)
		if endpoint.Spec.Resource.URL != url || endpoint.Spec.Resource.ServiceRef != "controlplane-time-service" {
			t.Errorf("%s is %+v", name, endpoint.Spec.Resource)
		}
	}
	p.korcEntersTheCatalog(t, cp)
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	expectCondition(t, p.pass(t), "CatalogReady", metav1.ConditionTrue, "CatalogRegistered",
		"The catalog has Keystone at http://controlplane-keystone.openstack.svc.cluster.local:5000/v3, "+
			"Sundial at https://sundial.example.com, Sundial at http://sundial")
}

func TestAnUnsetServiceHasNoChild(t *testing.T) {
	p := newPlant(t, fixture.Minimal())
	p.pass(t)
	p.keystoneIsReady(t)
	cp := p.pass(t)
	expectCondition(t, cp, "SundialReady", metav1.ConditionTrue, "SundialNotManaged", "spec.services.sundial is not set; "+
		"Sundial controlplane-sundial, if there is one, is kept unless the annotation example.com/allow-sundial-deletion is true; "+
		"when this ControlPlane is deleted, it goes with it and its data is kept")
	if len(cp.Status.Services) != 1 || cp.Status.UpdatePhase != c5c3v1alpha1.UpdatePhaseIdle {
		t.Errorf("services %+v in phase %s", cp.Status.Services, cp.Status.UpdatePhase)
	}
	key := client.ObjectKey{Namespace: cp.Namespace, Name: sundialName}
	if err := p.Client.Get(t.Context(), key, &sundial{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("reading the child: %v", err)
	}
}

func TestAnUpdateIsCompleteOnlyAfterTheLastService(t *testing.T) {
	p := newPlant(t, withSundial())
	p.pass(t)
	p.keystoneIsReady(t)
	p.pass(t)
	p.sundialIs(t, "2025.1", "2025.2", metav1.ConditionFalse)
	if got := p.pass(t).Status.UpdatePhase; got != c5c3v1alpha1.UpdatePhaseUpdatingServices {
		t.Errorf("while the second is updated: %s", got)
	}
	for i, step := range p.steps {
		if step.Name == StepAdminCredential {
			p.steps[i].Run = func(context.Context, *pass.Pass) reconcile.Outcome { return reconcile.Waiting("Later", "") }
		}
	}
	if got := p.pass(t).Status.UpdatePhase; got != c5c3v1alpha1.UpdatePhaseUpdatingServices {
		t.Errorf("while the second is held back: %s", got)
	}
}

func TestSharedObjectsCoverAllServices(t *testing.T) {
	all, cp := List{Keystone, sundialService()}, withSundial()
	peers := all.CacheClients(cp).Spec.Ingress[0].From
	if len(peers) != 2 || peers[1].PodSelector.MatchLabels["app.kubernetes.io/name"] != "sundial" {
		t.Errorf("the cache is open to %+v", peers)
	}
	want := []string{"controlplane-keystone-db-credentials", "controlplane-sundial-db-credentials"}
	if diff := cmp.Diff(want, all.DatabaseSecrets(cp)); diff != "" {
		t.Errorf("Secrets of databases (-want +got):\n%s", diff)
	}
	if !all.Hold("controlplane-sundial-keys", cp) || all.Hold("controlplane-sundials", cp) {
		t.Error("a SecretAggregate could take the name of a Secret of the service")
	}
	var stages []string
	for _, stage := range all.Finalizers() {
		stages = append(stages, stage.Name)
	}
	if diff := cmp.Diff([]string{"example.com/sundial-teardown", "c5c3.io/keystone-teardown"}, stages); diff != "" {
		t.Errorf("deletion (-want +got):\n%s", diff)
	}
}

func TestARestrictedServiceAdmitsTheOtherServices(t *testing.T) {
	p := newPlant(t, withSundial())
	p.pass(t)
	keystone := &keystonev1alpha1.Keystone{}
	p.get(t, keystone, "controlplane-keystone")
	keystone.Spec.NetworkPolicy = &commonv1.NetworkPolicySpec{}
	p.update(t, keystone)
	cp := p.pass(t)
	policy := &networkingv1.NetworkPolicy{}
	p.get(t, policy, cp.KeystoneName()+".clients")
	sundials := networkingv1.NetworkPolicyPeer{PodSelector: sundialService().pods()}
	if diff := cmp.Diff([]networkingv1.NetworkPolicyPeer{sundials}, policy.Spec.Ingress[0].From); diff != "" {
		t.Errorf("who reaches Keystone (-want +got):\n%s", diff)
	}
}

func TestGlobalPolicyRulesOfAnotherServiceAreFiltered(t *testing.T) {
	cp := fixture.Minimal()
	cp.Spec.Global = &c5c3v1alpha1.GlobalSpec{PolicySpec: commonv1.PolicySpec{Rules: map[string]string{
		"identity:list_users": "role:a", "time:read": "role:b", "compute:read": "role:c", "admin": "role:d",
	}}}
	all := List{Keystone, sundialService()}
	for name, want := range map[string][]string{
		"keystone": {"admin", "compute:read", "identity:list_users"}, "sundial": {"admin", "compute:read", "time:read"},
	} {
		svc := all[slices.IndexFunc(all, func(svc Service) bool { return svc.name == name })]
		got := slices.Sorted(maps.Keys(all.globalPolicy(cp, svc).Rules))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	cp.Spec.Global.Rules = map[string]string{"time:read": "role:b"}
	if got := all.globalPolicy(cp, Keystone); got != nil {
		t.Errorf("Keystone gets %+v", got)
	}
}
