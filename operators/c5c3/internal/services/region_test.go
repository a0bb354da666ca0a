package services

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	orcv1alpha1 "github.com/k-orc/openstack-resource-controller/v2/api/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/ask"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

// entered is a plant whose services are in the catalog, with a Keystone that has not
// been asked about its regions.
func entered(t *testing.T) *plant {
	t.Helper()
	p := newPlant(t, withSundial())
	p.korcEntersTheCatalog(t, p.begins(t))
	return p
}

func TestEndpointsAreMovedIntoTheRegionBeforeTheCatalogIsReady(t *testing.T) {
	p := entered(t)
	expectCondition(t, p.pass(t), "CatalogReady", metav1.ConditionFalse, "WaitingForCatalog",
		"Asking Keystone to move the endpoints to region RegionOne")
	fixture.Answer(t.Context(), p.Proofs.Ledger)
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

func TestEndpointRegionsAreCheckedAgainOnlyAfterAPeriod(t *testing.T) {
	p := entered(t)
	at := fixture.Noon
	p.Clock = func() time.Time { return at }
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	clear(p.placed)
	p.pass(t)
	if fixture.Answer(t.Context(), p.Proofs.Ledger) > 0 {
		t.Error("Keystone is asked at once again")
	}
	at = at.Add(identity.ProofPeriod)
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	if len(p.placed) != 3 {
		t.Errorf("after the period these were put into their region: %v", p.placed)
	}
}

func TestAFailedRegionChangeIsReportedAndRetried(t *testing.T) {
	p := entered(t)
	at := fixture.Noon
	p.Clock, p.refusal = func() time.Time { return at }, errors.New("setting the region: it answered with status 403")
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	expectCondition(t, p.pass(t), "CatalogReady", metav1.ConditionFalse, "EndpointRegionError",
		"Not all endpoints are known to be in region RegionOne: setting the region: it answered with status 403; "+
			"allow the administrator to change endpoints and regions, or delete the K-ORC Endpoint whose endpoint is gone")
	p.refusal, at = nil, at.Add(p.RetryPeriod)
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	if condition := meta.FindStatusCondition(p.pass(t).Status.Conditions, "CatalogReady"); condition.Reason != "CatalogRegistered" {
		t.Errorf("CatalogReady is %+v", condition)
	}
}

// refusedFor is a plant whose stored password Keystone refuses, after a pass that has
// found that out.
func refusedFor(t *testing.T, p *plant) *c5c3v1alpha1.ControlPlane {
	t.Helper()
	p.stored = "wr0ng"
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	return p.pass(t)
}

const correctPassword = "Not all endpoints are known to be in region RegionOne: Keystone refuses the administrator's password; " +
	"correct the administrator's password in Secret controlplane-keystone-admin-credentials, or set the one in Keystone to it"

func TestARefusedPasswordIsReportedWithItsSecret(t *testing.T) {
	cp := refusedFor(t, entered(t))
	expectCondition(t, cp, "CatalogReady", metav1.ConditionFalse, "EndpointRegionError", correctPassword)
}

func TestARefusedPasswordIsReportedWhenRegionsAreCheckedAgain(t *testing.T) {
	p := entered(t)
	at := fixture.Noon
	p.Clock = func() time.Time { return at }
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	p.pass(t)
	at = at.Add(identity.ProofPeriod)
	expectCondition(t, refusedFor(t, p), "CatalogReady", metav1.ConditionFalse, "EndpointRegionError", correctPassword)
}

func TestACorrectedPasswordIsUsedAtOnce(t *testing.T) {
	p := entered(t)
	refusedFor(t, p)
	p.stored = p.password
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	if condition := meta.FindStatusCondition(p.pass(t).Status.Conditions, "CatalogReady"); condition.Reason != "CatalogRegistered" {
		t.Errorf("CatalogReady is %+v", condition)
	}
}

// ready is a plant whose catalog is.
func ready(t *testing.T) *plant {
	t.Helper()
	p := entered(t)
	p.pass(t)
	fixture.Answer(t.Context(), p.Proofs.Ledger)
	if cp := p.pass(t); !meta.IsStatusConditionTrue(cp.Status.Conditions, "CatalogReady") {
		t.Fatalf("the conditions are %+v", cp.Status.Conditions)
	}
	return p
}

func TestAnOperatorRestartKeepsTheCatalogReady(t *testing.T) {
	p := ready(t)
	p.Proofs.Forget(fixture.ControlPlane)
	cp := p.pass(t)
	if asked := fixture.Answer(t.Context(), p.Proofs.Ledger); !meta.IsStatusConditionTrue(cp.Status.Conditions, "CatalogReady") || asked != 1 {
		t.Errorf("with %d questions the conditions are %+v", asked, cp.Status.Conditions)
	}
}

func TestAChangedEndpointIDMakesTheCatalogWait(t *testing.T) {
	p := ready(t)
	endpoint := &orcv1alpha1.Endpoint{}
	p.get(t, endpoint, "controlplane-time-endpoint")
	endpoint.Status.ID = new("another")
	p.update(t, endpoint)
	expectCondition(t, p.pass(t), "CatalogReady", metav1.ConditionFalse, "WaitingForCatalog",
		"Asking Keystone to move the endpoints to region RegionOne")
}

// importedAs returns the id with which K-ORC is to import an endpoint, "" if it manages one.
func (p *plant) importedAs(t *testing.T, name string) string {
	t.Helper()
	endpoint := &orcv1alpha1.Endpoint{}
	p.get(t, endpoint, name)
	return importedID(endpoint)
}

func TestAnEndpointWithTheURLOfAnotherRegionIsFoundByItsRegion(t *testing.T) {
	const name = "controlplane-identity-endpoint"
	for what, spoil := range map[string]func(t *testing.T, p *plant){
		"K-ORC finds both": func(t *testing.T, p *plant) {
			t.Helper()
			endpoint := &orcv1alpha1.Endpoint{}
			p.get(t, endpoint, name)
			endpoint.Status.ID = nil
			endpoint.Status.Conditions = []metav1.Condition{{
				Type: orcv1alpha1.ConditionProgressing, Status: metav1.ConditionFalse, Reason: orcv1alpha1.ConditionReasonInvalidConfiguration,
				Message: "found more than one matching OpenStack resource during adoption", LastTransitionTime: metav1.NewTime(fixture.Noon),
			}}
			p.update(t, endpoint)
		},
		"K-ORC has taken the other": func(_ *testing.T, p *plant) {
			p.refusal = &identity.ElsewhereError{ID: "id-of-" + name, Region: "RegionTwo"}
		},
	} {
		t.Run(what, func(t *testing.T) {
			p := entered(t)
			var asked identity.Endpoint
			p.FindEndpoint = func(_ context.Context, _, _, region string, wanted identity.Endpoint) (string, ask.Verdict, error) {
				if region != "RegionOne" {
					t.Errorf("it is looked for in region %s", region)
				}
				asked = wanted
				return "ours", ask.Accepted, nil
			}
			spoil(t, p)
			for range 4 {
				p.pass(t)
				fixture.Answer(t.Context(), p.Proofs.Ledger)
			}
			if id := p.importedAs(t, name); id != "ours" || asked.Interface != "public" || asked.URL == "" {
				t.Fatalf("K-ORC imports %q after a look-up of %+v", id, asked)
			}
			p.refusal = nil
			endpoint := &orcv1alpha1.Endpoint{}
			p.get(t, endpoint, name)
			endpoint.Status.ID = new("ours")
			endpoint.Status.Conditions = []metav1.Condition{{Type: orcv1alpha1.ConditionAvailable, Status: metav1.ConditionTrue}}
			p.update(t, endpoint)
			p.pass(t)
			fixture.Answer(t.Context(), p.Proofs.Ledger)
			if cp := p.pass(t); !meta.IsStatusConditionTrue(cp.Status.Conditions, "CatalogReady") || p.placed["ours"] != "RegionOne" {
				t.Errorf("the conditions are %+v", cp.Status.Conditions)
			}
			if id := p.importedAs(t, name); id != "ours" {
				t.Errorf("then K-ORC imports %q", id)
			}
		})
	}
}
