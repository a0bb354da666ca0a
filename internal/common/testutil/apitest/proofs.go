package apitest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// EachRuleNamesItsField checks that an error names the field and says what to do.
func (k Kind[T]) EachRuleNamesItsField(t *testing.T) {
	for _, v := range k.Violations {
		t.Run(v.Name, func(t *testing.T) {
			wantError(t, k.Rules.Validate(k.defaulted(k.changed(v.Change))), v.Path, v.Message)
		})
	}
}

// EachRuleIsBrokenAlone checks that each violation violates the rules of one field
// only.
func (k Kind[T]) EachRuleIsBrokenAlone(t *testing.T) {
	for _, v := range k.Violations {
		t.Run(v.Name, func(t *testing.T) {
			for _, err := range k.Rules.Validate(k.defaulted(k.changed(v.Change))) {
				if !strings.HasPrefix(err.Field, v.Path) {
					t.Errorf("beside the one at %s there is an error at another field: %v", v.Path, err)
				}
			}
		})
	}
}

// WhatWorksIsAccepted checks that the rules accept every valid object, including
// those just within bounds.
func (k Kind[T]) WhatWorksIsAccepted(t *testing.T) {
	if errs := k.Rules.Validate(k.defaulted(k.Minimal())); len(errs) > 0 {
		t.Errorf("the least a user has to write: %v", errs)
	}
	for _, complete := range k.Complete {
		if errs := k.Rules.Validate(k.defaulted(complete())); len(errs) > 0 {
			t.Errorf("a complete object: %v", errs)
		}
	}
	for _, v := range k.Mended {
		if errs := k.Rules.Validate(k.defaulted(k.changed(v.Change))); len(errs) > 0 {
			t.Errorf("%s: %v", v.Name, errs)
		}
	}
	for name, change := range k.Accepted {
		t.Run(name, func(t *testing.T) {
			if errs := k.Rules.Validate(k.defaulted(k.changed(change))); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
}

// UnwritableIsRefused checks that the operator refuses values that can only come
// from objects stored under an older schema.
func (k Kind[T]) UnwritableIsRefused(t *testing.T) {
	for _, v := range k.Unwritable {
		t.Run(v.Name, func(t *testing.T) {
			wantError(t, k.Rules.Validate(k.defaulted(k.changed(v.Change))), v.Path, v.Message)
		})
	}
}

func wantError(t *testing.T, errs field.ErrorList, path, message string) {
	t.Helper()
	if !slices.ContainsFunc(errs, func(err *field.Error) bool {
		return err.Field == path && strings.Contains(err.Error(), message)
	}) {
		t.Errorf("want an error at %s that says %q, got %v", path, message, errs)
	}
}

// EveryRuleHasAViolation checks that a test violates each rule of the table and
// each immutable field.
func (k Kind[T]) EveryRuleHasAViolation(t *testing.T) { report(t, k.unbrokenRules()) }

func (k Kind[T]) unbrokenRules() (problems []string) {
	for _, rule := range k.Rules {
		if !slices.ContainsFunc(k.Violations, func(v Violation[T]) bool { return rule.Covers(v.Path) }) {
			problems = append(problems, "no violation breaks the rule of "+rule.Path+": add one")
		}
	}
	for _, immutable := range k.Immutables {
		if !slices.ContainsFunc(k.Updates, func(v Violation[T]) bool { return v.Path == immutable.Path }) {
			problems = append(problems, "no update breaks the rule that "+immutable.Path+" is immutable: add one")
		}
	}
	return problems
}

// EveryViolationBelongsToARule checks that the table contains a rule for each
// violation.
func (k Kind[T]) EveryViolationBelongsToARule(t *testing.T) {
	for _, v := range k.Violations {
		if !slices.ContainsFunc(k.Rules, func(r rules.Rule[T]) bool { return r.Covers(v.Path) }) {
			t.Errorf("%s: no rule is about %s", v.Name, v.Path)
		}
	}
}

// EveryRuleOfTheSchemaHasAViolation checks that a test violates each CEL rule of
// the schema and repeats an entry of each list with unique entries.
func (k Kind[T]) EveryRuleOfTheSchemaHasAViolation(t *testing.T) { report(t, k.unbrokenSchema(t)) }

func (k Kind[T]) unbrokenSchema(t testing.TB) (problems []string) {
	var stated []string
	for _, v := range slices.Concat(k.Violations, k.Mended) {
		stated = append(stated, v.Schema)
	}
	for _, v := range k.Updates {
		stated = append(stated, v.Message)
	}
	for _, n := range k.nodes(t) {
		for _, rule := range n.schema.XValidations {
			if !slices.ContainsFunc(stated, func(text string) bool { return text != "" && strings.Contains(rule.Message, text) }) {
				problems = append(problems, n.path+": no violation breaks \""+rule.Message+"\"")
			}
		}
		unique := len(n.schema.XListMapKeys) > 0 || n.schema.XListType != nil && *n.schema.XListType == "set"
		if unique && !slices.ContainsFunc(k.Violations, func(v Violation[T]) bool {
			return strings.HasPrefix(v.Path, n.path+"[") && v.Schema == "Duplicate value"
		}) {
			problems = append(problems, n.path+": no violation repeats an entry")
		}
	}
	return problems
}

// WhatTheSchemaRefusesTheOperatorRefuses checks that the operator also refuses
// objects that were stored before the schema had a bound.
func (k Kind[T]) WhatTheSchemaRefusesTheOperatorRefuses(t *testing.T) {
	report(t, k.acceptedOutOfBounds(t))
}

func (k Kind[T]) acceptedOutOfBounds(t testing.TB) (problems []string) {
	for _, b := range k.bounds(t) {
		if b.limitsSize() || slices.Contains(k.SameAsNothing, b.String()) {
			continue
		}
		fields, _ := k.broken(t, b)
		broken := k.fromMap(t, fields)
		withDefaults := k.defaulted(broken)
		before, _ := valueAt(k.toMap(t, broken), b.path)
		// A value that is replaced by a default is no longer refused.
		if after, _ := valueAt(k.toMap(t, withDefaults), b.path); !cmp.Equal(before, after) {
			continue
		}
		if len(k.Rules.Validate(withDefaults)) == 0 {
			problems = append(problems, b.String()+": the operator accepts what the schema refuses")
		}
	}
	return problems
}

// ImmutableFieldsKeepTheirValue checks that each of the Updates is refused with
// exactly one error.
func (k Kind[T]) ImmutableFieldsKeepTheirValue(t *testing.T) {
	for _, v := range k.Updates {
		t.Run(v.Name, func(t *testing.T) {
			errs := k.updateErrors(k.defaulted(k.base()), k.defaulted(k.changed(v.Change)))
			if len(errs) != 1 || errs[0].Field != v.Path || !strings.HasPrefix(errs[0].Detail, v.Message) {
				t.Errorf("want %q at %s, got %v", v.Message, v.Path, errs)
			}
		})
	}
}

// MutableFieldsMayChange checks that a stored object may be changed to any other
// valid one.
func (k Kind[T]) MutableFieldsMayChange(t *testing.T) {
	for name, change := range k.Mutable {
		if errs := k.updateErrors(k.defaulted(k.base()), k.defaulted(k.changed(change))); len(errs) > 0 {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

func report(t *testing.T, problems []string) {
	t.Helper()
	for _, problem := range problems {
		t.Error(problem)
	}
}
