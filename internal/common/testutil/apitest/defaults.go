package apitest

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"

	"github.com/c5c3/forge/internal/common/admission"
)

// EveryDefaultIsInTheTable checks that the table of defaults matches the schema.
func (k Kind[T]) EveryDefaultIsInTheTable(t *testing.T) {
	var inTable, inSchema []string
	for _, row := range k.DefaultRows {
		inTable = append(inTable, row.Path)
	}
	for _, n := range k.nodes(t) {
		// Skip empty blocks, which exist for the sake of the defaults in them, and
		// the empty name, which is a default of Kubernetes' LocalObjectReference.
		if n.schema.Default != nil && string(n.schema.Default.Raw) != "{}" && string(n.schema.Default.Raw) != `""` {
			inSchema = append(inSchema, n.path)
		}
	}
	slices.Sort(inTable)
	slices.Sort(inSchema)
	if diff := cmp.Diff(inSchema, inTable); diff != "" {
		t.Errorf("defaults (-schema +table):\n%s", diff)
	}
}

// TheOperatorFillsInEveryDefault checks that the operator sets the same defaults on
// an object that did not get them from the schema.
func (k Kind[T]) TheOperatorFillsInEveryDefault(t *testing.T) {
	for _, row := range k.DefaultRows {
		got, found := valueAt(k.toMap(t, k.defaulted(k.fromMap(t, k.without(t, row)))), row.Path)
		// JSON omits false.
		if !found && row.Want == false {
			continue
		}
		if diff := cmp.Diff(row.Want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.Path, diff)
		}
	}
}

// without returns an object without the field, as users write it.
func (k Kind[T]) without(t testing.TB, row Default) map[string]any {
	t.Helper()
	if row.Within != "" {
		return k.within(t, row.Within)
	}
	required := map[string]bool{}
	for _, n := range k.nodes(t) {
		for _, name := range n.schema.Required {
			required[strings.TrimPrefix(n.path+"."+name, ".")] = true
		}
	}
	return withoutEmpty(k.toMap(t, k.Minimal()), "", required)
}

// within returns an object with the given optional fields set to empty blocks.
func (k Kind[T]) within(t testing.TB, fields ...string) map[string]any {
	t.Helper()
	written := k.toMap(t, k.base())
	for _, field := range fields {
		if err := unstructured.SetNestedMap(written, map[string]any{}, strings.Split(field, ".")...); err != nil {
			t.Fatal(err)
		}
	}
	return written
}

// withoutEmpty removes empty blocks that a Go client sends but users do not write.
func withoutEmpty(object map[string]any, path string, required map[string]bool) map[string]any {
	for name, value := range object {
		below := path + name
		fields, isMap := value.(map[string]any)
		if isMap && len(withoutEmpty(fields, below+".", required)) == 0 && !required[below] {
			delete(object, name)
		}
	}
	return object
}

// randomObjects is the number of random objects per check.
const randomObjects = 2000

// random fills all fields at random; hardly any of the values are valid.
func (k Kind[T]) random(seed uint64) T {
	object := k.empty()
	object.SetName(k.Minimal().GetName())
	spec := reflect.ValueOf(object).Elem().FieldByName("Spec").Addr().Interface()
	randfill.NewWithSeed(int64(seed)).NilChance(0.4).NumElements(0, 3).MaxDepth(12).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1<<20), resource.DecimalSI)
		},
		func(s *string, c randfill.Continue) { *s = k.Words[c.Intn(len(k.Words))] },
	).Fill(spec)
	return object
}

// DefaultingTwiceIsDefaultingOnce checks that defaulting is idempotent.
func (k Kind[T]) DefaultingTwiceIsDefaultingOnce(t *testing.T) {
	for seed := range uint64(randomObjects) {
		once := k.defaulted(k.random(seed))
		if diff := cmp.Diff(once, k.defaulted(once)); diff != "" {
			t.Fatalf("seed %d (-once +twice):\n%s", seed, diff)
		}
	}
}

// ValidationNamesAField checks that validation handles arbitrary input and that its
// errors name a field of the spec.
func (k Kind[T]) ValidationNamesAField(t *testing.T) {
	object := k.Minimal()
	for seed := range uint64(randomObjects) {
		before := object
		object = k.random(seed)
		for _, err := range append(k.Rules.Validate(object), k.updateErrors(before, object)...) {
			if !strings.HasPrefix(err.Field, "spec.") {
				t.Fatalf("seed %d: an error names no field of the spec: %v", seed, err)
			}
		}
	}
}

// AValidObjectStaysValid checks that a valid object stays valid, also as an update,
// when its defaults are written out, for random combinations of accepted changes.
func (k Kind[T]) AValidObjectStaysValid(t *testing.T) {
	names := slices.Sorted(maps.Keys(k.Accepted))
	valid := 0
	for seed := range uint64(randomObjects) {
		random := rand.New(rand.NewPCG(seed, seed))
		object := k.base()
		for range random.IntN(4) {
			if len(names) > 0 {
				k.Accepted[names[random.IntN(len(names))]](object)
			}
		}
		written := k.defaulted(object)
		if len(k.Rules.Validate(written)) > 0 {
			continue
		}
		valid++
		errs := append(k.Rules.Validate(k.defaulted(written)), k.updateErrors(k.defaulted(object), written)...)
		if len(errs) > 0 {
			t.Fatalf("seed %d: valid before, now %v", seed, errs)
		}
	}
	if valid < randomObjects/2 {
		t.Errorf("only %d of %d objects were valid, which shows little", valid, randomObjects)
	}
}

// FuzzAdmission checks that a webhook accepts or refuses any JSON, refuses only as
// Invalid, and decides the same about an object with its defaults. If accepted is
// not nil, it checks each accepted object.
func (k Kind[T]) FuzzAdmission(f *testing.F, webhook *admission.Webhook[T], accepted func(*testing.T, T)) {
	add := func(object T) {
		content, err := json.Marshal(object)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	for _, change := range k.Accepted {
		add(k.changed(change))
	}
	for _, v := range k.Violations {
		add(k.changed(v.Change))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		object := k.empty()
		if json.Unmarshal(content, object) != nil {
			return
		}
		if err := webhook.Default(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		err := create(t, webhook, object)
		if err == nil && accepted != nil {
			accepted(t, object)
		}
		if again := create(t, webhook, k.defaulted(object)); (again == nil) != (err == nil) {
			t.Fatalf("first %v, then %v", err, again)
		}
		if _, err := webhook.ValidateUpdate(t.Context(), k.Minimal(), object); err != nil && !apierrors.IsInvalid(err) {
			t.Fatalf("want Invalid, got %v", err)
		}
	})
}

func create[T client.Object](t *testing.T, webhook *admission.Webhook[T], object T) error {
	t.Helper()
	_, err := webhook.ValidateCreate(t.Context(), object)
	if err != nil && !apierrors.IsInvalid(err) {
		t.Fatalf("want Invalid, got %v", err)
	}
	return err
}
