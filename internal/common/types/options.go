package types

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/ini"
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

// ExtraConfigRules are those about the options that users set. refused returns what else is
// wrong with options; it may be nil.
func ExtraConfigRules[T OptionsDescriber](
	refused func(options map[string]map[string]string, at *field.Path) field.ErrorList,
) rules.Table[T] {
	check := func(get func(*OptionsSpec) map[string]map[string]string) rules.Check[T] {
		return func(r T, at *field.Path) field.ErrorList {
			options := get(r.OptionsSpec())
			errs := ini.ValidateExtra(options, at)
			if refused != nil {
				errs = append(errs, refused(options, at)...)
			}
			return errs
		}
	}
	return rules.Table[T]{
		{Path: "spec.extraConfig", Check: check(func(o *OptionsSpec) map[string]map[string]string { return o.ExtraConfig })},
		{Path: "spec.globalExtraConfig", Check: check(func(o *OptionsSpec) map[string]map[string]string { return o.GlobalExtraConfig })},
		{Path: "spec.extraConfigSecretRef", Check: func(r T, at *field.Path) field.ErrorList {
			if r.OptionsSpec().ExtraConfigSecretRef == nil {
				return nil
			}
			return ValidateSecretRef(*r.OptionsSpec().ExtraConfigSecretRef, at)
		}},
	}
}
