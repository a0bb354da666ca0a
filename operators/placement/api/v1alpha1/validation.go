package v1alpha1

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// table has the rules of services and those of a Placement alone. It repeats what the
// schema states as markers and CEL, in the same words, and adds what a schema cannot
// state. Rules that need other objects are in the webhook instead.
var table = slices.Concat(
	commonv1.ServiceRules[*Placement](AppName, SelectorLabels), commonv1.DataRules[*Placement](AppName),
	commonv1.OptionsRules[*Placement](), commonv1.NameRules[*Placement](), commonv1.ExtraConfigRules[*Placement](nil),
	commonv1.ServiceUserRules[*Placement](),
)

// Limits are the rules that refuse new values only.
var Limits = slices.Concat(commonv1.ServiceLimits[*Placement](), commonv1.ServiceUserLimits[*Placement]())

// Outdated describes the values of a Placement that a new one could not have, "" if there
// are none.
func Outdated(p *Placement) string { return Limits.Outdated(p) }

// immutables are the fields of a Placement that cannot be changed.
var immutables = commonv1.DataImmutables[*Placement]()

// Validate returns everything that is wrong with a Placement on its own, that is,
// without looking at other objects. It expects an object that SetDefaults has been
// applied to.
func Validate(p *Placement) field.ErrorList { return table.Validate(p) }

// ValidateUpdate returns what is wrong with replacing one Placement with another, in
// addition to what Validate returns for the new one. Both objects must have their
// defaults.
func ValidateUpdate(old, updated *Placement) field.ErrorList {
	return rules.Unchanged(immutables, old, updated)
}
