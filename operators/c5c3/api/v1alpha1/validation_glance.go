package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	glancev1alpha1 "github.com/c5c3/forge/operators/glance/api/v1alpha1"
)

const backendsPath = "spec.services.glance.backends"

// backendsOf returns the backends of a control plane's Glance, nil if it has none.
func backendsOf(cp *ControlPlane) []ServiceGlanceBackendSpec {
	if cp.Spec.Services.Glance == nil {
		return nil
	}
	return cp.Spec.Services.Glance.Backends
}

func checkBackends(cp *ControlPlane, at *field.Path) (errs field.ErrorList) {
	seen := map[string]bool{}
	for i, backend := range backendsOf(cp) {
		if seen[backend.Name] {
			errs = append(errs, field.Duplicate(at.Index(i), backend.Name))
		}
		seen[backend.Name] = true
		errs = append(errs, glancev1alpha1.ValidateBackendName(backend.Name, at.Index(i).Child("name"))...)
		errs = append(errs, backend.BackendSpec.Validate(at.Index(i))...)
	}
	return errs
}

// checkPlaces keeps the places of backends, which have images in them.
func checkPlaces(old, updated *ControlPlane) (errs field.ErrorList) {
	places := map[string]any{}
	for _, backend := range backendsOf(old) {
		places[backend.Name] = backend.Place()
	}
	for i, backend := range backendsOf(updated) {
		if place, known := places[backend.Name]; known && place != backend.Place() {
			errs = append(errs, field.Invalid(rules.Path(backendsPath).Index(i).Child("type"), backend.Type, glancev1alpha1.PlaceIsImmutable))
		}
	}
	return errs
}
