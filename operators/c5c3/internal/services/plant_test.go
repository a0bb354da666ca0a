package services

import (
	"context"
	"slices"
	"testing"

	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/ask"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
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

// adminCredential is the administrator's.
var adminCredential = identity.Credential{ID: "the-credential", Secret: "s3cret"}

// plant runs the steps of Keystone, of the invented service and of the catalog. The
// others have nothing to do.
type plant struct {
	*pass.Tools
	services List
	steps    reconcile.Pipeline[*pass.Pass]
	// placed are the regions that endpoints were put into by their ids, and refusal is
	// what Keystone says instead.
	placed  map[string]string
	refusal error
	// existing are the ids of what Keystone had before K-ORC, by the type of a service or the
	// URL of an endpoint; removed are the ids of entries that were removed from it, unless it
	// refuses that.
	existing      map[string]string
	removed       []string
	removeRefusal error
	// password is the administrator's in Keystone, and stored the one in the Secret.
	password, stored string
}

func newPlant(t *testing.T, cp *c5c3v1alpha1.ControlPlane) *plant {
	t.Helper()
	return newPlantOf(t, cp, List{Keystone, sundialService()})
}

func newPlantOf(t *testing.T, cp *c5c3v1alpha1.ControlPlane, all List) *plant {
	t.Helper()
	tools := toolsFor(t, all, cp)
	p := &plant{
		Tools: tools, services: all, placed: map[string]string{}, password: "adm1n", stored: "adm1n",
		existing: map[string]string{},
	}
	p.steps = p.pipeline()
	if err := p.steps.Validate(); err != nil {
		t.Fatal(err)
	}
	p.Proofs = identity.NewProofs(nil, p.Now, identity.ProofPeriod, identity.LoginPeriod)
	p.SetEndpoints = func(
		_ context.Context, _ string, look identity.Credential, password, region string, wanted []identity.Endpoint,
	) (ask.Verdict, error) {
		if look != adminCredential {
			t.Errorf("Keystone is asked with the credential %q", look.ID)
		}
		if password != p.password {
			return ask.Unproven, identity.ErrPassword
		}
		if p.refusal != nil {
			return ask.Rejected, p.refusal
		}
		for _, endpoint := range wanted {
			p.placed[endpoint.ID] = region
		}
		return ask.Accepted, nil
	}
	p.FindEntries = p.find
	p.RemoveEntry = func(_ context.Context, _, _, region string, entry identity.Entry) error {
		if region != "RegionOne" {
			t.Errorf("%s is removed from region %s", entry.ID, region)
		}
		if p.removeRefusal != nil {
			return p.removeRefusal
		}
		p.removed = append(p.removed, entry.ID)
		return nil
	}
	return p
}

func (p *plant) find(_ context.Context, _, _, _ string, wanted identity.Entries) (identity.EntryIDs, ask.Verdict, error) {
	found := identity.EntryIDs{Service: p.existing[wanted.Type]}
	for _, endpoint := range wanted.Endpoints {
		found.Endpoints = append(found.Endpoints, p.existing[endpoint.URL])
	}
	return found, ask.Accepted, nil
}

// begins lets the plant come as far as the objects of the catalog.
func (p *plant) begins(t *testing.T) *c5c3v1alpha1.ControlPlane {
	t.Helper()
	p.pass(t)
	p.keystoneIsReady(t)
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	p.pass(t)
	return p.pass(t)
}

// pipeline has what the services and the catalog need done by a single step beside them,
// which does no more than to hand on what the others would.
func (p *plant) pipeline() reconcile.Pipeline[*pass.Pass] {
	idle := func(context.Context, *pass.Pass) reconcile.Outcome { return reconcile.Done("Fine", "") }
	handOn := func(_ context.Context, s *pass.Pass) reconcile.Outcome {
		pass.PasswordCloud.Put(s.Slots, true)
		pass.AdminPassword.Put(s.Slots, p.stored)
		pass.AdminCredential.Put(s.Slots, adminCredential)
		return reconcile.Done("Fine", "")
	}
	needs := []string{StepAdminCredential}
	return slices.Concat(
		reconcile.Pipeline[*pass.Pass]{
			{Name: StepInfrastructure, Condition: c5c3v1alpha1.ConditionInfrastructureReady, Run: idle},
			{Name: StepRestore, Condition: c5c3v1alpha1.ConditionRestoreReady, Run: idle},
		},
		p.services.Steps(p.services[:1]),
		reconcile.Pipeline[*pass.Pass]{
			{
				Name: StepAdminCredential, Condition: c5c3v1alpha1.ConditionAdminCredentialReady, Run: handOn, Needs: []string{"Keystone"},
				Sets: []reconcile.Value{pass.AdminPassword, pass.PasswordCloud, pass.AdminCredential},
			},
			{
				Name: "BootstrapResources", Condition: c5c3v1alpha1.ConditionKORCReady, Run: p.services.ReconcileBootstrapResources,
				Reads: []reconcile.Value{pass.PasswordCloud}, Needs: needs,
			},
		},
		p.services.Steps(p.services[1:]),
		reconcile.Pipeline[*pass.Pass]{{
			Name: "Catalog", Condition: c5c3v1alpha1.ConditionCatalogReady, Run: p.services.ReconcileCatalog,
			Reads: []reconcile.Value{pass.AdminPassword, pass.AdminCredential}, Needs: needs,
		}},
	)
}

// validated is a control plane as a pass sees it.
func validated(cp *c5c3v1alpha1.ControlPlane) error {
	c5c3v1alpha1.SetDefaults(cp)
	return c5c3v1alpha1.Validate(cp).ToAggregate()
}

// pass has a reconciler of its own: one that has just written a status puts the next
// one off.
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

// keystoneIsReady and sundialIs play the operators of the two services.
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
	child.Status.InstalledRelease, child.Status.TargetRelease = installed, target
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

// korcEntersTheCatalog plays K-ORC.
func (p *plant) korcEntersTheCatalog(t *testing.T, cp *c5c3v1alpha1.ControlPlane) {
	t.Helper()
	for _, obj := range p.services.CatalogObjects(cp) {
		p.get(t, obj, obj.GetName())
		available := []metav1.Condition{{Type: orcv1alpha1.ConditionAvailable, Status: metav1.ConditionTrue}}
		switch obj := obj.(type) {
		case *orcv1alpha1.Service:
			obj.Status.Conditions, obj.Status.ID = available, new("id-of-"+obj.Name)
		case *orcv1alpha1.Endpoint:
			obj.Status.Conditions, obj.Status.ID = available, new("id-of-"+obj.Name)
		}
		p.update(t, obj)
	}
}
