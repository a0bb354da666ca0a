// Package rules validates resources with tables, so that each rule of a kind
// is one line: the field it applies to and the check of its value. The same table
// serves the webhook at admission and the controller before each pass.
package rules

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/schedule"
)

// Check validates one aspect of a resource and reports its errors at or below
// the given field.
type Check[T any] func(resource T, at *field.Path) field.ErrorList

// Rule is one rule for a resource.
type Rule[T any] struct {
	// Path is the field that the rule applies to, such as "spec.replicas".
	Path string
	// Check validates it.
	Check Check[T]
}

// Table is the list of rules for a resource on its own.
type Table[T any] []Rule[T]

// Validate returns all errors of the resource. Their order is stable, because their
// text ends up in its status.
func (t Table[T]) Validate(resource T) field.ErrorList {
	var errs field.ErrorList
	for _, rule := range t {
		errs = append(errs, rule.Check(resource, Path(rule.Path))...)
	}
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// Immutable is a field that cannot change once the resource is stored.
type Immutable[T any] struct {
	// Path is the field that an error names.
	Path string
	// Message says that it cannot be changed.
	Message string
	// Get returns the immutable value, which must be comparable.
	Get func(T) any
}

// Unchanged reports the immutable fields that differ. Both resources have
// their defaults set.
func Unchanged[T any](immutables []Immutable[T], old, updated T) field.ErrorList {
	var errs field.ErrorList
	for _, immutable := range immutables {
		value := immutable.Get(updated)
		if value == immutable.Get(old) {
			continue
		}
		var shown any = field.OmitValueType{}
		if text, ok := value.(string); ok {
			shown = text
		}
		errs = append(errs, field.Invalid(Path(immutable.Path), shown, immutable.Message))
	}
	return errs
}

// AtLeast checks the lower bound of a number that is not nil.
func AtLeast[T any, N int32 | int64](minimum N, get func(T) *N) Check[T] {
	return func(resource T, at *field.Path) field.ErrorList {
		if value := get(resource); value != nil && *value < minimum {
			return field.ErrorList{field.Invalid(at, *value, fmt.Sprintf("%s must be at least %d", leaf(at), minimum))}
		}
		return nil
	}
}

// Between checks the bounds of a number that is not nil.
func Between[T any, N int32 | int64](minimum, maximum N, get func(T) *N) Check[T] {
	atLeast := AtLeast(minimum, get)
	return func(resource T, at *field.Path) field.ErrorList {
		if value := get(resource); value != nil && *value > maximum {
			return field.ErrorList{field.Invalid(at, *value, fmt.Sprintf("%s must be at most %d", leaf(at), maximum))}
		}
		return atLeast(resource, at)
	}
}

// Schedule checks a cron expression that is not nil.
func Schedule[T any](get func(T) *string) Check[T] {
	return func(resource T, at *field.Path) field.ErrorList {
		expression := get(resource)
		if expression == nil {
			return nil
		}
		if *expression == "" {
			return field.ErrorList{field.Required(at, `set a cron expression with five fields, for example "0 0 * * 0"`)}
		}
		if err := schedule.Validate(*expression); err != nil {
			return field.ErrorList{field.Invalid(at, *expression, err.Error())}
		}
		return nil
	}
}

// Covers reports whether an error at the path of a field may be one of the rule's.
func (r Rule[T]) Covers(path string) bool {
	rest, below := strings.CutPrefix(path, r.Path)
	return below && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Path parses the path of a field with dots, such as "spec.replicas".
func Path(dotted string) *field.Path {
	segments := strings.Split(dotted, ".")
	return field.NewPath(segments[0], segments[1:]...)
}

func leaf(at *field.Path) string {
	path := at.String()
	return path[strings.LastIndex(path, ".")+1:]
}

// Certificates checks a bundle of certificates in PEM form. An empty one is correct. The error does
// not quote it.
func Certificates(bundle string, at *field.Path) field.ErrorList {
	found := 0
	for block, rest := pem.Decode([]byte(bundle)); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			if _, err := x509.ParseCertificate(block.Bytes); err != nil {
				return field.ErrorList{field.Invalid(at, field.OmitValueType{}, fmt.Sprintf("certificate %d is malformed", found+1))}
			}
			found++
		}
	}
	if found == 0 && bundle != "" {
		return field.ErrorList{field.Invalid(at, field.OmitValueType{}, "there is no certificate in PEM form")}
	}
	return nil
}
