package services

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/testutil/fixture"
)

// withoutData makes it a service without a database and without an entry in the catalog.
func withoutData(svc Service) Service {
	svc.Database, svc.catalogType, svc.endpoints, svc.allowDeletion = nil, "", nil, ""
	return svc
}

func TestAServiceWithoutADatabaseHasNoCredentialsAndNoFinalizer(t *testing.T) {
	all, cp := List{Keystone, withoutData(sundialService())}, withSundial()
	cp.Status.Services = []c5c3v1alpha1.ServiceStatus{{Name: "keystone", Release: "2025.1"}, {Name: "sundial", Release: "2025.1"}}
	if got, want := all.DatabaseSecrets(cp), []string{Keystone.Database.Secret(cp)}; !slices.Equal(got, want) {
		t.Errorf("the Secrets are %v, want %v", got, want)
	}
	if got, want := all.Databases(cp), []string{Keystone.Database.name(cp)}; !slices.Equal(got, want) {
		t.Errorf("the databases are %v, want %v", got, want)
	}
	if stages := all.Finalizers(); len(stages) != 1 || stages[0].Name != Keystone.Database.finalizer {
		t.Errorf("the finalizers are %+v", stages)
	}
}

func TestAServiceWithoutACatalogTypeHasNoEntry(t *testing.T) {
	p := newPlantOf(t, withSundial(), List{Keystone, withoutData(sundialService())})
	cp := p.begins(t)
	if got, want := len(p.services.CatalogObjects(cp)), len(Keystone.catalogObjects(cp)); got != want {
		t.Errorf("there are %d objects of the catalog, want Keystone's %d", got, want)
	}
	for _, entry := range p.services.catalogEntries(pass.New(p.Tools, cp)) {
		if entry.of != Keystone.name {
			t.Errorf("%s is an entry of %s", entry.object.GetName(), entry.of)
		}
	}
}

func TestAServiceWithoutDataGoesWithItsField(t *testing.T) {
	p := newPlantOf(t, withSundial(), List{Keystone, withoutData(sundialService())})
	p.begins(t)
	child, cp := &sundial{}, &c5c3v1alpha1.ControlPlane{}
	p.get(t, child, sundialName)
	p.get(t, cp, fixture.Minimal().Name)
	cp.Annotations = nil
	p.update(t, cp)
	p.pass(t)
	if found, err := apply.Find(t.Context(), p.Client, client.ObjectKeyFromObject(child), &sundial{}); found != nil || err != nil {
		t.Errorf("%v, %v", found, err)
	}
}
