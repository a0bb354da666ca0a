// Package apitest proves that the API of a kind is complete: that its schema, its rules
// and its defaults say the same, that a test breaks each of them, and that a real API
// server acts on them. An API package describes its kinds as data and names the proofs.
package apitest

import (
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/rules"
)

// Violation is one change to a valid object that breaks one rule.
type Violation[T client.Object] struct {
	// Name says what is wrong with the object.
	Name string
	// Change breaks the rule.
	Change func(T)
	// Path and Message are what validation in Go says.
	Path, Message string
	// Schema is a part of what the API server says without a webhook, after SchemaPath if
	// that differs from Path. It is empty when the schema cannot state the rule.
	Schema, SchemaPath string
}

// What the API server says about a number out of bounds, a text that does not match its
// pattern, and one that is empty.
const (
	TooSmall = "should be greater than or equal to"
	TooLarge = "should be less than or equal to"
	NoMatch  = "should match"
	TooShort = "should be at least 1 chars long"
)

// Default is a field that is filled in when the user leaves it out.
type Default struct {
	// Path is the field.
	Path string
	// Want is its value, as JSON has it: numbers are int64.
	Want any
	// Within is the optional field that has to be there, if it is not there by default.
	Within string
}

// Kind describes a kind, T, a pointer to its Go type.
type Kind[T client.Object] struct {
	// Definition is the file of the CustomResourceDefinition.
	Definition string
	// Columns are what kubectl get shows.
	Columns []string

	// Minimal returns the least that a user has to write.
	Minimal func() T
	// Complete return objects that have every field of the schema between them.
	Complete []func() T

	// Rules are the kind's rules, Immutables and UpdateRules those for updates.
	Rules       rules.Table[T]
	Immutables  []rules.Immutable[T]
	UpdateRules func(old, updated T) field.ErrorList
	// Defaults fills in what the user left out.
	Defaults func(T)

	// Base returns the object that violations and accepted changes start from, Minimal
	// when it is nil.
	Base func() T
	// Violations break the rules, each of them at least once.
	Violations []Violation[T]
	// Unwritable are violations that a Go client cannot write, because it leaves out
	// empty fields and the API server fills in the default.
	Unwritable []Violation[T]
	// Mended are violations of the schema that a webhook mends before the schema sees them,
	// by filling in a default.
	Mended []Violation[T]
	// Updates are changes of a stored object that are refused.
	Updates []Violation[T]
	// Accepted are changes to objects at the edge of what is allowed, and Mutable changes
	// of a stored object that look like refused ones, each by what they are.
	Accepted, Mutable map[string]func(T)
	// Obsolete makes a stored object break rules that are newer than it, and refer to
	// what is gone; the schema does not notice.
	Obsolete func(T)

	// DefaultRows are all defaults of the schema.
	DefaultRows []Default
	// OperatorDefaults are fields whose default the webhook and the operator fill in, but
	// not the schema.
	OperatorDefaults []string
	// Foreign are fields whose types belong to Kubernetes, which has its own rules for
	// what is below them.
	Foreign []string
	// SameAsNothing are bounds of the schema, such as "spec.port minimum", that refuse a
	// value which the Go type of the field cannot tell from one that is not set.
	SameAsNothing []string
	// Words are texts that random objects consist of.
	Words []string
}

// Subject is a kind whose proofs can be called without its Go type.
type Subject interface {
	// Name is the kind's name.
	Name(t testing.TB) string

	EachRuleNamesItsField(t *testing.T)
	EachRuleIsBrokenAlone(t *testing.T)
	WhatWorksIsAccepted(t *testing.T)
	UnwritableIsRefused(t *testing.T)
	EveryRuleHasAViolation(t *testing.T)
	EveryViolationBelongsToARule(t *testing.T)
	EveryRuleOfTheSchemaHasAViolation(t *testing.T)
	WhatTheSchemaRefusesTheOperatorRefuses(t *testing.T)
	ImmutableFieldsKeepTheirValue(t *testing.T)
	MutableFieldsMayChange(t *testing.T)
	EveryDefaultIsInTheTable(t *testing.T)
	TheOperatorFillsInEveryDefault(t *testing.T)
	DefaultingTwiceIsDefaultingOnce(t *testing.T)
	ValidationNamesAField(t *testing.T)
	AValidObjectStaysValid(t *testing.T)

	// TheSchemaAlone proves what holds without a webhook, TheWebhook what holds with one.
	TheSchemaAlone(t *testing.T, s *Server)
	TheWebhook(t *testing.T, s *Server)

	givenErrors() field.ErrorList
}

// Kinds are those of an API package.
type Kinds []Subject

// Each runs a proof for each of the kinds.
func (kinds Kinds) Each(t *testing.T, proof func(Subject, *testing.T)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind.Name(t), func(t *testing.T) { proof(kind, t) })
	}
}

// Name is the kind's name.
func (k Kind[T]) Name(t testing.TB) string { return k.definition(t).Spec.Names.Kind }

// definitions are the files that were read so far: a proof asks thousands of times.
var definitions sync.Map

func (k Kind[T]) definition(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	if known, ok := definitions.Load(k.Definition); ok {
		return known.(*apiextensionsv1.CustomResourceDefinition)
	}
	content, err := os.ReadFile(k.Definition)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(content, crd); err != nil {
		t.Fatal(err)
	}
	definitions.Store(k.Definition, crd)
	return crd
}

func (k Kind[T]) base() T {
	if k.Base == nil {
		return k.Minimal()
	}
	return k.Base()
}

// changed returns the object that violations start from, after a change.
func (k Kind[T]) changed(change func(T)) T {
	object := k.base()
	change(object)
	return object
}

func (k Kind[T]) defaulted(object T) T {
	object = object.DeepCopyObject().(T)
	if k.Defaults != nil {
		k.Defaults(object)
	}
	return object
}

func (k Kind[T]) updateErrors(old, updated T) field.ErrorList {
	if k.UpdateRules == nil {
		return nil
	}
	return k.UpdateRules(old, updated)
}

// givenErrors returns all errors that the violations lead to.
func (k Kind[T]) givenErrors() field.ErrorList {
	var errs field.ErrorList
	for _, v := range slices.Concat(k.Violations, k.Unwritable) {
		errs = append(errs, k.Rules.Validate(k.defaulted(k.changed(v.Change)))...)
	}
	for _, v := range k.Updates {
		errs = append(errs, k.updateErrors(k.defaulted(k.base()), k.defaulted(k.changed(v.Change)))...)
	}
	return errs
}

func (k Kind[T]) empty() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}

func (k Kind[T]) toMap(t testing.TB, object T) map[string]any {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		t.Fatal(err)
	}
	crd := k.definition(t)
	fields["apiVersion"], fields["kind"] = crd.Spec.Group+"/"+crd.Spec.Versions[0].Name, crd.Spec.Names.Kind
	delete(fields, "status")
	return fields
}

func (k Kind[T]) fromMap(t testing.TB, fields map[string]any) T {
	t.Helper()
	object := k.empty()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, object); err != nil {
		t.Fatal(err)
	}
	return object
}

// Violations converts tables of an API package, whose own type of a row lets it leave out
// the names of the fields.
func Violations[T client.Object, Row ~struct {
	Name               string
	Change             func(T)
	Path, Message      string
	Schema, SchemaPath string
}](tables ...[]Row) []Violation[T] {
	var all []Violation[T]
	for _, row := range slices.Concat(tables...) {
		all = append(all, Violation[T](row))
	}
	return all
}

// Defaults converts a table of an API package as Violations does.
func Defaults[Row ~struct {
	Path   string
	Want   any
	Within string
}](table []Row) []Default {
	all := make([]Default, 0, len(table))
	for _, row := range table {
		all = append(all, Default(row))
	}
	return all
}
