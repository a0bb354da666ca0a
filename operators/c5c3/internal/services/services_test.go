package services

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/korc"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// withSundial is a control plane with Keystone and the invented service.
func withSundial() *c5c3v1alpha1.ControlPlane {
	cp := fixture.Minimal()
	cp.Generation, cp.Annotations = 1, map[string]string{wantsSundial: "true"}
	return cp
}

// plant runs the steps of Keystone, of the invented service and of the catalog. The other
// steps do nothing.
type plant struct {
	*pass.Tools
	services List
	steps    reconcile.Pipeline[*pass.Pass]
	// tasks are the pending requests to Keystone.
	tasks *fixture.Later
	// placed maps endpoints to the regions that they were put into. refusal, if set, is
	// Keystone's error instead.
	placed  map[string]string
	refusal error
}

func newPlant(t *testing.T, cp *c5c3v1alpha1.ControlPlane) *plant {
	t.Helper()
	return newPlantOf(t, cp, List{Keystone, sundialService()})
}

func newPlantOf(t *testing.T, cp *c5c3v1alpha1.ControlPlane, all List) *plant {
	t.Helper()
	tools := toolsFor(t, all, cp)
	steps := passOver(all)
	if err := steps.Validate(); err != nil {
		t.Fatal(err)
	}
	p := &plant{Tools: tools, services: all, steps: steps, tasks: &fixture.Later{}, placed: map[string]string{}}
	p.Proofs = identity.NewProofs(nil, p.tasks, p.Now, identity.ProofPeriod, identity.LoginPeriod)
	p.SetRegion = func(_ context.Context, _, _, region string, endpointIDs []string) (identity.Verdict, error) {
		if p.refusal != nil {
			return identity.Rejected, p.refusal
		}
		for _, id := range endpointIDs {
			p.placed[id] = region
		}
		return identity.Accepted, nil
	}
	return p
}

// passOver returns the steps of the services and of the catalog, and stubs for the steps
// that they depend on.
func passOver(all List) reconcile.Pipeline[*pass.Pass] {
	idle := func(context.Context, *pass.Pass) reconcile.Outcome { return reconcile.Done("Fine", "") }
	return slices.Concat(
		reconcile.Pipeline[*pass.Pass]{{Name: StepInfrastructure, Condition: c5c3v1alpha1.ConditionInfrastructureReady, Run: idle}},
		all.Steps(all[:1]),
		reconcile.Pipeline[*pass.Pass]{
			{
				Name: "KORC", Condition: c5c3v1alpha1.ConditionKORCReady, Run: idle, Needs: []string{"Keystone"},
				HeldBack: c5c3v1alpha1.ReasonWaitingForKeystone, Sets: []reconcile.Value{korc.AdminPassword, korc.PasswordCloud},
			},
			{
				Name: "BootstrapResources", Condition: c5c3v1alpha1.ConditionKORCReady, Run: idle, Needs: []string{"Keystone"},
				HeldBack: c5c3v1alpha1.ReasonWaitingForKeystone, Reads: []reconcile.Value{korc.PasswordCloud},
			},
			{
				Name: StepAdminCredential, Condition: c5c3v1alpha1.ConditionAdminCredentialReady, Run: idle, Needs: []string{"KORC"},
				HeldBack: c5c3v1alpha1.ReasonWaitingForKORC,
			},
		},
		all.Steps(all[1:]),
		reconcile.Pipeline[*pass.Pass]{{
			Name: "Catalog", Condition: c5c3v1alpha1.ConditionCatalogReady, Run: all.ReconcileCatalog,
			Reads: []reconcile.Value{korc.AdminPassword}, Needs: []string{StepAdminCredential},
			HeldBack: c5c3v1alpha1.ReasonWaitingForAdminCredential,
		}},
	)
}

// validated applies the defaults and validates the control plane, as a pass does.
func validated(cp *c5c3v1alpha1.ControlPlane) error {
	c5c3v1alpha1.SetDefaults(cp)
	return c5c3v1alpha1.Validate(cp).ToAggregate()
}

// pass uses a new reconciler each time because one that has just written a status delays
// the next write.
func (p *plant) pass(t *testing.T) *c5c3v1alpha1.ControlPlane {
	t.Helper()
	reconciler := &reconcile.Reconciler[*c5c3v1alpha1.ControlPlane, *pass.Pass]{
		Client: p.Client, Recorder: events.NewFakeRecorder(100), Guard: validated,
		New:      func() *c5c3v1alpha1.ControlPlane { return &c5c3v1alpha1.ControlPlane{} },
		Scope:    func(cp *c5c3v1alpha1.ControlPlane) *pass.Pass { return pass.New(p.Tools, cp) },
		Pipeline: p.steps, Summarise: p.services.Summarise,
	}
	cp := fixture.Minimal()
	if _, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(cp)}); err != nil {
		t.Fatal(err)
	}
	p.get(t, cp, cp.Name)
	return cp
}

func (p *plant) get(t *testing.T, obj client.Object, name string) {
	t.Helper()
	if err := p.Client.Get(t.Context(), client.ObjectKey{Namespace: fixture.Minimal().Namespace, Name: name}, obj); err != nil {
		t.Fatal(err)
	}
}

func (p *plant) update(t *testing.T, obj client.Object) {
	t.Helper()
	if err := p.Client.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
}

// keystoneIsReady and sundialIs simulate the operators of the two services.
func (p *plant) keystoneIsReady(t *testing.T) {
	t.Helper()
	keystone := &keystonev1alpha1.Keystone{}
	p.get(t, keystone, "controlplane-keystone")
	keystone.Status.InstalledRelease = "2025.2"
	meta.SetStatusCondition(&keystone.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Because"})
	p.update(t, keystone)
}

func (p *plant) sundialIs(t *testing.T, installed, target string, ready metav1.ConditionStatus) {
	t.Helper()
	child := &sundial{}
	p.get(t, child, sundialName)
	child.Status.Installed, child.Status.Target = installed, target
	meta.SetStatusCondition(&child.Status.Conditions, metav1.Condition{Type: "Ready", Status: ready, Reason: "Because", Message: "no sun"})
	p.update(t, child)
}

func expectCondition(
	t *testing.T, cp *c5c3v1alpha1.ControlPlane, conditionType string, status metav1.ConditionStatus, reason, message string,
) {
	t.Helper()
	condition := meta.FindStatusCondition(cp.Status.Conditions, conditionType)
	if condition == nil || condition.Status != status || condition.Reason != reason || condition.Message != message {
		t.Errorf("%s is %+v, expected %s with %s: %s", conditionType, condition, status, reason, message)
	}
}

func TestASecondServiceIsProjectedAndReported(t *testing.T) {
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
	if !metav1.IsControlledBy(child, cp) || child.Image.Tag != "2025.2" {
		t.Errorf("the child has image %+v and owners %+v", child.Image, child.OwnerReferences)
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
	p.pass(t)
	p.keystoneIsReady(t)
	cp := p.pass(t)
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
	p.tasks.Work(t.Context())
	expectCondition(t, p.pass(t), "CatalogReady", metav1.ConditionTrue, "CatalogRegistered",
		"The catalog has Keystone at http://controlplane-keystone.openstack.svc.cluster.local:5000/v3, "+
			"Sundial at https://sundial.example.com, Sundial at http://sundial")
}

// korcEntersTheCatalog simulates K-ORC.
func (p *plant) korcEntersTheCatalog(t *testing.T, cp *c5c3v1alpha1.ControlPlane) {
	t.Helper()
	for _, obj := range p.services.CatalogObjects(cp) {
		p.get(t, obj, obj.GetName())
		available := []metav1.Condition{{Type: orcv1alpha1.ConditionAvailable, Status: metav1.ConditionTrue}}
		switch obj := obj.(type) {
		case *orcv1alpha1.Service:
			obj.Status.Conditions = available
		case *orcv1alpha1.Endpoint:
			obj.Status.Conditions, obj.Status.ID = available, new("id-of-"+obj.Name)
		}
		p.update(t, obj)
	}
}

// entered is a plant whose services are in the catalog. Keystone was not asked about its
// regions yet.
func entered(t *testing.T) *plant {
	t.Helper()
	p := newPlant(t, withSundial())
	p.pass(t)
	p.keystoneIsReady(t)
	p.korcEntersTheCatalog(t, p.pass(t))
	return p
}

func TestTheEndpointsArePutIntoTheRegionBeforeTheCatalogIsReady(t *testing.T) {
	p := entered(t)
	expectCondition(t, p.pass(t), "CatalogReady", metav1.ConditionFalse, "WaitingForCatalog",
		"Keystone is being asked to put the endpoints into region RegionOne")
	p.tasks.Work(t.Context())
	if condition := meta.FindStatusCondition(p.pass(t).Status.Conditions, "CatalogReady"); condition.Reason != "CatalogRegistered" {
		t.Errorf("CatalogReady is %+v", condition)
	}
	want := map[string]string{
		"id-of-controlplane-identity-endpoint": "RegionOne", "id-of-controlplane-time-endpoint": "RegionOne",
		"id-of-controlplane-time-internal-endpoint": "RegionOne",
	}
	if diff := cmp.Diff(want, p.placed); diff != "" {
		t.Errorf("regions (-want +got):\n%s", diff)
	}
}

func TestTheRegionOfTheEndpointsIsLookedAtAgainAfterAWhileOnly(t *testing.T) {
	p := entered(t)
	at := fixture.Noon
	p.Clock = func() time.Time { return at }
	p.pass(t)
	p.tasks.Work(t.Context())
	clear(p.placed)
	p.pass(t)
	if len(p.tasks.Tasks) > 0 {
		t.Error("Keystone is asked at once again")
	}
	at = at.Add(identity.ProofPeriod)
	p.pass(t)
	p.tasks.Work(t.Context())
	if len(p.placed) != 3 {
		t.Errorf("after the period these were put into their region: %v", p.placed)
	}
}

func TestARegionThatKeystoneDoesNotSetIsReportedAndTriedAgain(t *testing.T) {
	p := entered(t)
	at := fixture.Noon
	p.Clock, p.refusal = func() time.Time { return at }, errors.New("setting the region: it answered with status 403")
	p.pass(t)
	p.tasks.Work(t.Context())
	expectCondition(t, p.pass(t), "CatalogReady", metav1.ConditionFalse, "EndpointRegionError",
		"Not all endpoints are known to be in region RegionOne: setting the region: it answered with status 403; "+
			"allow the administrator to change endpoints and regions, or delete the K-ORC Endpoint whose endpoint is gone")
	p.refusal, at = nil, at.Add(identity.LoginPeriod)
	p.pass(t)
	p.tasks.Work(t.Context())
	if condition := meta.FindStatusCondition(p.pass(t).Status.Conditions, "CatalogReady"); condition.Reason != "CatalogRegistered" {
		t.Errorf("CatalogReady is %+v", condition)
	}
}

func TestAServiceThatIsNotWantedHasNoChildAndNoEntries(t *testing.T) {
	p := newPlant(t, fixture.Minimal())
	p.pass(t)
	p.keystoneIsReady(t)
	cp := p.pass(t)
	expectCondition(t, cp, "SundialReady", metav1.ConditionTrue, "SundialNotManaged", "spec.services.sundial is not set; "+
		"Sundial controlplane-sundial, if there is one, is kept unless the annotation example.com/allow-sundial-deletion is true")
	if len(cp.Status.Services) != 1 || cp.Status.UpdatePhase != c5c3v1alpha1.UpdatePhaseIdle {
		t.Errorf("services %+v in phase %s", cp.Status.Services, cp.Status.UpdatePhase)
	}
	key := client.ObjectKey{Namespace: cp.Namespace, Name: sundialName}
	if err := p.Client.Get(t.Context(), key, &sundial{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("reading the child: %v", err)
	}
}

func TestAnUpdateIsNotOverBeforeTheLastServiceWasSeen(t *testing.T) {
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

func TestWhatIsSharedIsSharedByAllServices(t *testing.T) {
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

func TestAServiceThatSaysWhoReachesItIsReachedByTheOthers(t *testing.T) {
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

func TestAServiceGetsNoGlobalRuleOfAnotherOne(t *testing.T) {
	cp := fixture.Minimal()
	cp.Spec.Global = &commonv1.PolicySpec{Rules: map[string]string{
		"identity:list_users": "role:a", "time:read": "role:b", "compute:read": "role:c", "admin": "role:d",
	}}
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
