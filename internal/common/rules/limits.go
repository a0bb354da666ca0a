package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Limit is a rule that is newer than some of the resources. It refuses new values only: a
// resource that has a value already keeps it, and its condition warns of it.
type Limit[T any] struct {
	Rule[T]
	// Value returns what the rule is about. It must be comparable.
	Value func(T) any
}

// Limits is a list of such rules.
type Limits[T any] []Limit[T]

// Table returns the rules as those for a new resource.
func (l Limits[T]) Table() Table[T] {
	table := make(Table[T], 0, len(l))
	for _, limit := range l {
		table = append(table, limit.Rule)
	}
	return table
}

// Changed returns the errors of the values that an update changes. Both resources have
// their defaults set.
func (l Limits[T]) Changed(old, updated T) field.ErrorList {
	return slices.DeleteFunc(slices.Clone(l), func(limit Limit[T]) bool {
		return limit.Value(old) == limit.Value(updated)
	}).Table().Validate(updated)
}

// Outdated describes the values of a resource that a new one could not have, "" if there
// are none.
func (l Limits[T]) Outdated(resource T) string {
	errs := l.Table().Validate(resource)
	if len(errs) == 0 {
		return ""
	}
	texts := make([]string, 0, len(errs))
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return "Change these values, which an earlier version accepted: " + strings.Join(texts, "; ")
}

// AtMost limits a number that is not nil.
func AtMost[T any, N int32 | int64](path string, maximum N, get func(T) *N) Limit[T] {
	return Limit[T]{
		Rule: Rule[T]{path, func(resource T, at *field.Path) field.ErrorList {
			if value := get(resource); value != nil && *value > maximum {
				return field.ErrorList{field.Invalid(at, *value, fmt.Sprintf("%s must be at most %d", leaf(at), maximum))}
			}
			return nil
		}},
		Value: func(resource T) any {
			if value := get(resource); value != nil {
				return *value
			}
			return nil
		},
	}
}

// Text limits a text by a check of it.
func Text[T any](path string, get func(T) string, check func(text string, at *field.Path) field.ErrorList) Limit[T] {
	return Limit[T]{
		Rule:  Rule[T]{path, func(resource T, at *field.Path) field.ErrorList { return check(get(resource), at) }},
		Value: func(resource T) any { return get(resource) },
	}
}
