package controller

import (
	"slices"
	"testing"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// sundial is a service that OpenStack does not have: another Placement by another kind.
func sundial() services.Service {
	svc := services.Placement
	svc.Kind.Kind = "Sundial"
	return svc
}

func TestAnAdditionalServiceIsInsertedIntoThePipeline(t *testing.T) {
	steps := pipelineOf(services.List{services.Keystone, services.Placement, sundial()})
	if err := steps.Validate(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, step := range steps {
		names = append(names, step.Name)
	}
	want := []string{
		"Infrastructure", "DBCredentials", "AdminPassword", "KORCInputs", "Restore", "Keystone", "KORC", "BootstrapResources",
		"AdminCredential", "Placement", "Sundial", "Catalog", "IdentityBackends",
		"Backup",
	}
	if !slices.Equal(names, want) {
		t.Errorf("the steps are %v", names)
	}
}

func TestThePipelineIsValidWithTheIdentityServiceAlone(t *testing.T) {
	for _, all := range []services.List{{services.Keystone}, services.All} {
		if err := pipelineOf(all).Validate(); err != nil {
			t.Errorf("%d services: %v", len(all), err)
		}
	}
}

// The values that steps read must come from a step that is done by then: one that is held
// back sets nothing.
func TestTheCatalogStepNeedsTheStepsWhoseValuesItReads(t *testing.T) {
	catalog := step(t, "Catalog")
	for _, name := range []string{"KORC", "AdminCredential"} {
		for _, value := range step(t, name).Sets {
			if value == reconcile.Value(pass.AdminCredential) && !slices.Contains(catalog.Needs, name) {
				t.Errorf("the catalog reads what %s sets and does not need it", name)
			}
		}
	}
	if !slices.Contains(catalog.Reads, reconcile.Value(pass.AdminCredential)) {
		t.Error("the catalog looks without the application credential")
	}
}

func step(t *testing.T, name string) reconcile.Step[*pass.Pass] {
	t.Helper()
	i := slices.IndexFunc(pipeline, func(step reconcile.Step[*pass.Pass]) bool { return step.Name == name })
	if i < 0 {
		t.Fatalf("there is no step %s", name)
	}
	return pipeline[i]
}
