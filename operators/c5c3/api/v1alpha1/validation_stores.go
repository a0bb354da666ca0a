package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

// storeList is a list of the places in which a service stores data. Each becomes a resource.
type storeList struct {
	path string
	// of returns the stores of a control plane, none if it lacks the service.
	of func(*ControlPlane) []store
	// placeField is the field of a store to report if its place has changed, and placeIsImmutable says why
	// it must not.
	placeField, placeIsImmutable string
}

type store struct {
	name string
	// place says where the data is. It is comparable.
	place any
	check func(*field.Path) field.ErrorList
}

var backends = storeList{
	path: "spec.services.glance.backends", of: backendsOf,
	placeField: "type", placeIsImmutable: glancev1alpha1.PlaceIsImmutable,
}

var secretStores = storeList{
	path: "spec.services.barbican.secretStores", of: secretStoresOf,
	placeField: "vault.kvMountpoint", placeIsImmutable: barbicanv1alpha1.PlaceIsImmutable,
}

var storeLists = []storeList{backends, secretStores}

func backendsOf(cp *ControlPlane) (stores []store) {
	if cp.Spec.Services.Glance == nil {
		return nil
	}
	for _, backend := range cp.Spec.Services.Glance.Backends {
		stores = append(stores, store{backend.Name, backend.Place(), func(at *field.Path) field.ErrorList {
			return append(glancev1alpha1.ValidateBackendName(backend.Name, at.Child("name")), backend.BackendSpec.Validate(at)...)
		}})
	}
	return stores
}

func secretStoresOf(cp *ControlPlane) (stores []store) {
	if cp.Spec.Services.Barbican == nil {
		return nil
	}
	for _, one := range cp.Spec.Services.Barbican.SecretStores {
		stores = append(stores, store{one.Name, one.Place(), func(at *field.Path) (errs field.ErrorList) {
			for _, wrong := range validation.IsDNS1123Label(one.Name) {
				errs = append(errs, field.Invalid(at.Child("name"), one.Name, wrong))
			}
			return append(errs, one.SecretStoreSpec.Validate(at)...)
		}})
	}
	return stores
}

func (l storeList) validate(cp *ControlPlane, at *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, one := range l.of(cp) {
		if seen[one.name] {
			errs = append(errs, field.Duplicate(at.Index(i), one.name))
		}
		seen[one.name] = true
		errs = append(errs, one.check(at.Index(i))...)
	}
	return errs
}

// validateUpdate keeps the places of stores, which have data in them.
func (l storeList) validateUpdate(old, updated *ControlPlane) (errs field.ErrorList) {
	places := map[string]any{}
	for _, one := range l.of(old) {
		places[one.name] = one.place
	}
	for i, one := range l.of(updated) {
		if place, known := places[one.name]; known && place != one.place {
			errs = append(errs, field.Invalid(rules.Path(l.path).Index(i).Child(l.placeField), one.name, l.placeIsImmutable))
		}
	}
	return errs
}
