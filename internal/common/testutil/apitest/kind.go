// Package apitest tests the API of a kind: its schema, its rules and its defaults
// must agree, each of them must be violated by a test, and a real API server must
// enforce them. An API package describes its kinds as data and runs the checks of
// this package.
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

// Violation is a change to a valid object that violates exactly one rule.
type Violation[T client.Object] struct {
	// Name describes what is wrong with the object.
	Name string
	// Change violates the rule.
	Change func(T)
	// Path and Message are the field and a part of the message of the error that Go
	// validation returns.
	Path, Message string
	// Schema is a part of the API server's message without a webhook, at SchemaPath
	// if that differs from Path. It is empty if the schema cannot express the rule.
	Schema, SchemaPath string
}

// The API server's messages about a number out of bounds, a text that does not
// match its pattern, and an empty text.
const (
	TooSmall = "should be greater than or equal to"
	TooLarge = "should be less than or equal to"
	NoMatch  = "should match"
	TooShort = "should be at least 1 chars long"
)

// Authority is the certificate of a CA.
const Authority = `-----BEGIN CERTIFICATE-----
MIIBMDCB46ADAgECAhRADdVbWxRMrwuZ1SfFLFHPft2fGjAFBgMrZXAwDTELMAkG
A1UEAwwCY2EwIBcNMjYxMTMwMDA1MDQ2WhgPMjEyNjExMDYwMDUwNDZaMA0xCzAJ
BgNVBAMMAmNhMCowBQYDK2VwAyEApZT+zOXsv5FVZM3TpjEXo0ZEZs0oeAkrM4C9
z/e3G6KjUzBRMB0GA1UdDgQWBBQ+t1E1iQYzxLaeybZrukkH9kKhajAfBgNVHSME
GDAWgBQ+t1E1iQYzxLaeybZrukkH9kKhajAPBgNVHRMBAf8EBTADAQH/MAUGAytl
cANBAIFCz2pxsK2s8Ci5z1QEeKwf4Y8KylHMz5qt+8LHpIvS8VAFoY3cabeiPpw8
dfpTxa4s21qM/lkG0uADJ6b2JA8=
-----END CERTIFICATE-----
`

// Default is the default of a field.
type Default struct {
	// Path is the field.
	Path string
	// Want is the default in its JSON form: numbers are int64.
	Want any
	// Within is the optional parent field that must be set for the default to
	// apply, if any.
	Within string
}

// Kind describes a kind of resource. T is a pointer to its Go type.
type Kind[T client.Object] struct {
	// Definition is the path of the CustomResourceDefinition.
	Definition string
	// Columns are the columns that kubectl get shows.
	Columns []string

	// Minimal returns an object with the required fields only.
	Minimal func() T
	// Complete return objects that together set every field of the schema.
	Complete []func() T

	// Rules are the kind's rules; Immutables and UpdateRules apply to updates.
	Rules       rules.Table[T]
	Immutables  []rules.Immutable[T]
	UpdateRules func(old, updated T) field.ErrorList
	// Defaults sets the fields that the user has not set.
	Defaults func(T)

	// Base returns the object that violations and accepted changes are applied to;
	// nil means Minimal.
	Base func() T
	// Violations violate each of the rules at least once.
	Violations []Violation[T]
	// Unwritable are violations that a Go client cannot send, because it omits
	// empty fields and the API server then sets the default.
	Unwritable []Violation[T]
	// Mended are violations of the schema that a webhook corrects by setting a
	// default before the schema is checked.
	Mended []Violation[T]
	// Updates are changes of a stored object that must be refused.
	Updates []Violation[T]
	// Accepted are changes to objects that are just within bounds, and Mutable are
	// allowed changes of a stored object that resemble refused ones, both by
	// description.
	Accepted, Mutable map[string]func(T)
	// Obsolete makes a stored object violate rules that are newer than the object
	// and refer to objects that no longer exist, in ways that the schema does not
	// check.
	Obsolete func(T)

	// DefaultRows lists all defaults of the schema.
	DefaultRows []Default
	// OperatorDefaults lists the fields whose default is set by the webhook and the
	// operator, but not by the schema.
	OperatorDefaults []string
	// KubernetesFields lists the fields with types of Kubernetes, which has its own rules
	// for their contents.
	KubernetesFields []string
	// SharedFields lists the fields with types that another kind has, too. The tests of that kind
	// break the rules below them and know the defaults.
	SharedFields []string
	// SameAsNothing lists bounds of the schema, such as "spec.port minimum", that
	// reject a value which the field's Go type cannot distinguish from an unset
	// one.
	SameAsNothing []string
	// Words are the texts that random objects are filled with.
	Words []string
}

// Subject is a Kind without its type parameter.
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

	// TheSchemaAlone checks the behaviour without a webhook, TheWebhook the
	// behaviour with one.
	TheSchemaAlone(t *testing.T, s *Server)
	TheWebhook(t *testing.T, s *Server)

	givenErrors() field.ErrorList
}

// Kinds are the kinds of an API package.
type Kinds []Subject

// Each runs a check for each of the kinds.
func (kinds Kinds) Each(t *testing.T, proof func(Subject, *testing.T)) {
	t.Helper()
	for _, kind := range kinds {
		t.Run(kind.Name(t), func(t *testing.T) { proof(kind, t) })
	}
}

// Name is the kind's name.
func (k Kind[T]) Name(t testing.TB) string { return k.definition(t).Spec.Names.Kind }

// definitions caches the files that were read: one check looks them up thousands of
// times.
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

// changed returns the base object after a change.
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

// givenErrors returns all errors that the violations cause.
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

// Violations converts tables of an API package. The package's own row type allows
// its rows to omit the field names.
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

// Defaults converts a table of an API package like Violations.
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
