package v1alpha1

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	barbicanv1alpha1 "github.com/c5c3/forge/operators/barbican/api/v1alpha1"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// storeList is a list of the places in which a service stores data, or has users from. Each becomes a
// resource.
type storeList struct {
	path string
	// of returns the stores of a control plane, none if it lacks the service.
	of func(*ControlPlane) []store
}

type store struct {
	name string
	// fixed are the fields that cannot be changed, the same ones for all stores of a list.
	fixed []fixedField
	check func(*field.Path) field.ErrorList
}

// fixedField is a field that cannot be changed.
type fixedField struct {
	// name is the field to report if the value has changed, and says why it must not.
	name, says string
	// value is comparable.
	value any
}

var backends = storeList{path: "spec.services.glance.backends", of: backendsOf}

var secretStores = storeList{path: "spec.services.barbican.secretStores", of: secretStoresOf}

var identityBackends = storeList{path: "spec.services.keystone.identityBackends", of: identityBackendsOf}

var storeLists = []storeList{backends, secretStores, identityBackends}

func backendsOf(cp *ControlPlane) (stores []store) {
	if cp.Spec.Services.Glance == nil {
		return nil
	}
	for _, backend := range cp.Spec.Services.Glance.Backends {
		place := []fixedField{{"type", glancev1alpha1.PlaceIsImmutable, backend.Place()}}
		stores = append(stores, store{backend.Name, place, func(at *field.Path) field.ErrorList {
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
		place := []fixedField{{"vault.kvMountpoint", barbicanv1alpha1.PlaceIsImmutable, one.Place()}}
		stores = append(stores, store{one.Name, place, func(at *field.Path) (errs field.ErrorList) {
			for _, wrong := range validation.IsDNS1123Label(one.Name) {
				errs = append(errs, field.Invalid(at.Child("name"), one.Name, wrong))
			}
			return append(errs, one.SecretStoreSpec.Validate(at)...)
		}})
	}
	return stores
}

func identityBackendsOf(cp *ControlPlane) (stores []store) {
	for _, backend := range cp.IdentityBackends() {
		fixed := []fixedField{
			{"domain", keystonev1alpha1.DomainIsImmutable, backend.Domain.Origin()},
			{"type", keystonev1alpha1.TypeIsImmutable, backend.Names()},
		}
		stores = append(stores, store{backend.Name, fixed, func(at *field.Path) field.ErrorList {
			return append(keystonev1alpha1.ValidateIdentityBackendName(backend.Name, at.Child("name")), backend.Validate(at)...)
		}})
	}
	return stores
}

// checkDomains refuses two backends of one domain. MariaDB compares the names of domains in this way.
func checkDomains(cp *ControlPlane, at *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for _, backend := range cp.IdentityBackends() {
		domain := strings.ToLower(backend.Domain.Name)
		if seen[domain] {
			errs = append(errs, field.Invalid(at, backend.Domain.Name, "each domain can have one backend"))
		}
		seen[domain] = true
	}
	return errs
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

// validateUpdate keeps what cannot be changed of stores, which have data in them.
func (l storeList) validateUpdate(old, updated *ControlPlane) (errs field.ErrorList) {
	before := map[string][]fixedField{}
	for _, one := range l.of(old) {
		before[one.name] = one.fixed
	}
	for i, one := range l.of(updated) {
		for n, was := range before[one.name] {
			if was.value != one.fixed[n].value {
				errs = append(errs, field.Invalid(rules.Path(l.path).Index(i).Child(was.name), one.name, was.says))
			}
		}
	}
	return errs
}
