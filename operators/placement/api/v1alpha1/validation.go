package v1alpha1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// table has the rules of services and those of a Placement alone. It repeats what the
// schema states as markers and CEL, in the same words, and adds what a schema cannot
// state. Rules that need other objects are in the webhook instead.
var table = slices.Concat(
	commonv1.ServiceRules[*Placement](AppName, SelectorLabels), commonv1.DataRules[*Placement](AppName),
	commonv1.OptionsRules[*Placement](), commonv1.ServiceUserRules[*Placement](),
	rules.Table[*Placement]{
		{Path: "metadata.name", Check: checkName},
		{Path: "spec.extraConfig", Check: checkExtraConfig},
		{Path: "spec.globalExtraConfig", Check: checkGlobalExtraConfig},
		{Path: "spec.extraConfigSecretRef", Check: checkExtraConfigSecretRef},
	},
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

// maxName leaves room for the longest suffix of a Job's name in its pods' label.
const maxName = 40

// checkName ignores an empty name, because the API server may still generate one.
func checkName(p *Placement, at *field.Path) field.ErrorList {
	if p.Name == "" {
		return nil
	}
	errs := commonv1.ValidateServiceName(p.Name, "it becomes the name of a Service", at)
	if len(p.Name) > maxName {
		errs = append(errs, field.Invalid(at, p.Name,
			fmt.Sprintf("name must be no longer than %d characters: Jobs are named after it", maxName)))
	}
	return errs
}

func checkExtraConfig(p *Placement, at *field.Path) field.ErrorList {
	return ini.ValidateExtra(p.Spec.ExtraConfig, at)
}

func checkGlobalExtraConfig(p *Placement, at *field.Path) field.ErrorList {
	return ini.ValidateExtra(p.Spec.GlobalExtraConfig, at)
}

func checkExtraConfigSecretRef(p *Placement, at *field.Path) field.ErrorList {
	if p.Spec.ExtraConfigSecretRef == nil {
		return nil
	}
	return commonv1.ValidateSecretRef(*p.Spec.ExtraConfigSecretRef, at)
}
