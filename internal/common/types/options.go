package types

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// OptionsDescriber is a resource whose service reads options and a policy as OpenStack's
// libraries do.
//
// +kubebuilder:object:generate=false
type OptionsDescriber interface {
	// OptionsSpec returns the part of the spec about them.
	OptionsSpec() *OptionsSpec
}

// OptionsOf returns the part of a resource's spec about its options, nil if its service
// reads none.
func OptionsOf(resource any) *OptionsSpec {
	if describer, has := resource.(OptionsDescriber); has {
		return describer.OptionsSpec()
	}
	return nil
}

// OptionsRules returns the rules of every API service with options, in addition to
// [ServiceRules]. What an option may be is up to the service.
func OptionsRules[T OptionsDescriber]() rules.Table[T] {
	return rules.Table[T]{
		{Path: "spec.policyOverrides", Check: func(r T, at *field.Path) field.ErrorList {
			return ValidatePolicy(r.OptionsSpec().PolicyOverrides, at)
		}},
	}
}
