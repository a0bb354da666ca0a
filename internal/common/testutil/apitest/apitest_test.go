package apitest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// definition defines a kind with the fields of a Service that the rules below
// concern.
const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.sea}
spec:
  group: sea
  names: {kind: Boat, plural: boats}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations: [{rule: "true", message: a boat needs a name or a number}]
            properties:
              healthCheckNodePort: {type: integer, minimum: 1, maximum: 9, default: 5}
              externalName: {type: string, maxLength: 10}
              externalIPs: {type: array, x-kubernetes-list-type: set, items: {type: string}}
`

func boats(t *testing.T) Kind[*corev1.Service] {
	t.Helper()
	file := filepath.Join(t.TempDir(), "crd.yaml")
	if err := os.WriteFile(file, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	complete := func() *corev1.Service {
		return &corev1.Service{Spec: corev1.ServiceSpec{HealthCheckNodePort: 5, ExternalName: "albatros", ExternalIPs: []string{"a"}}}
	}
	port := func(s *corev1.Service) *int32 { return &s.Spec.HealthCheckNodePort }
	return Kind[*corev1.Service]{
		Definition: file,
		Minimal:    complete,
		Complete:   []func() *corev1.Service{complete},
		Rules:      rules.Table[*corev1.Service]{{Path: "spec.healthCheckNodePort", Check: rules.Between(1, 9, port)}},
		Immutables: []rules.Immutable[*corev1.Service]{{Path: "spec.externalName"}},
		Violations: []Violation[*corev1.Service]{{
			Name: "no port", Change: func(s *corev1.Service) { s.Spec.HealthCheckNodePort = -1 },
			Path: "spec.healthCheckNodePort", Schema: "a boat needs a name or a number",
		}, {
			Name: "an address twice", Change: func(s *corev1.Service) { s.Spec.ExternalIPs = []string{"a", "a"} },
			Path: "spec.externalIPs[1]", Schema: "Duplicate value",
		}},
		Updates: []Violation[*corev1.Service]{{Path: "spec.externalName"}},
	}
}

func TestARuleThatNoTestBreaksIsNamed(t *testing.T) {
	kind := boats(t)
	if problems := kind.unbrokenRules(); len(problems) > 0 {
		t.Errorf("all rules are broken: %q", problems)
	}
	kind.Violations, kind.Updates = nil, nil
	want := []string{
		"no violation breaks the rule of spec.healthCheckNodePort: add one",
		"no update breaks the rule that spec.externalName is immutable: add one",
	}
	if diff := cmp.Diff(want, kind.unbrokenRules()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestARuleOfTheSchemaThatNoTestBreaksIsNamed(t *testing.T) {
	kind := boats(t)
	if problems := kind.unbrokenSchema(t); len(problems) > 0 {
		t.Errorf("all rules are broken: %q", problems)
	}
	kind.Violations = nil
	want := []string{
		`spec: no violation breaks "a boat needs a name or a number"`,
		"spec.externalIPs: no violation repeats an entry",
	}
	if diff := cmp.Diff(want, kind.unbrokenSchema(t)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestABoundThatTheOperatorDoesNotKnowIsNamed(t *testing.T) {
	kind := boats(t)
	kind.SameAsNothing = []string{"spec.healthCheckNodePort minimum"}
	if problems := kind.acceptedOutOfBounds(t); len(problems) > 0 {
		t.Errorf("all bounds are known: %q", problems)
	}
	kind.Rules = nil
	want := []string{"spec.healthCheckNodePort maximum: the operator accepts what the schema refuses"}
	if diff := cmp.Diff(want, kind.acceptedOutOfBounds(t)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	kind.SameAsNothing = nil
	kind.Defaults = func(s *corev1.Service) {
		if s.Spec.HealthCheckNodePort == 0 {
			s.Spec.HealthCheckNodePort = 5
		}
	}
	if problems := kind.acceptedOutOfBounds(t); len(problems) != 1 {
		t.Errorf("what a default replaces is refused no more: %q", problems)
	}
}

// ownSource returns one error itself and calls a shared function that calls
// another; a third shared function is never called.
const ownSource = `package boat

import (
	"errors"
	"fmt"

	hull "github.com/c5c3/forge/internal/common/hulls"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func check(name string, at *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(at, "name the " + "boat"), field.NotSupported(at, name, names)}
	}
	return append(hull.Check(at), field.Invalid(at, name, fmt.Sprintf("%s must float", name)))
}
`

const sharedSource = `package hulls

import "errors"

func Check(at *field.Path) field.ErrorList {
	return field.ErrorList{field.Invalid(at, "", draught().Error())}
}

func draught() error { return errors.New("too deep") }

func Unused() error { return errors.New("nobody asks") }
`

func TestARefusalThatNoTestProvokesIsNamed(t *testing.T) {
	folder := t.TempDir()
	const hulls = "internal/common/hulls"
	if err := os.MkdirAll(filepath.Join(folder, hulls), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string]string{"validation.go": ownSource, hulls + "/hulls.go": sharedSource} {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found := &refusals{root: folder, kinds: map[field.ErrorType]int{}, packages: map[string]sources{}}
	found.addFiles(t, filepath.Join(folder, "validation*.go"))

	want := []string{
		`1 places give the error "FieldValueNotSupported", but violations lead to it at 0 fields only`,
		`no violation leads to the error "%s must float": add one`,
		`no violation leads to the error "name the boat": add one`,
		`no violation leads to the error "too deep": add one`,
	}
	got := found.missing(nil, nil)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	at := field.NewPath("name")
	given := field.ErrorList{
		field.Required(at, "name the boat"), field.NotSupported(at, "x", []string{"y"}), field.Invalid(at, "lead", "lead must float"),
	}
	if problems := found.missing(given, []string{"too deep"}); len(problems) > 0 {
		t.Errorf("all refusals are provoked: %q", problems)
	}
}
