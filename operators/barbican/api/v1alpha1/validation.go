package v1alpha1

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/ini"
	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// table has the rules of services and those of a Barbican alone. It repeats what the
// schema states as markers and CEL, in the same words, and adds what a schema cannot
// state. Rules that need other objects are in the webhook instead.
var table = slices.Concat(
	commonv1.ServiceRules[*Barbican](AppName, SelectorLabels), commonv1.DataRules[*Barbican](AppName),
	commonv1.OptionsRules[*Barbican](), commonv1.NameRules[*Barbican](), commonv1.ExtraConfigRules[*Barbican](checkKey),
	commonv1.ServiceUserRules[*Barbican](), commonv1.CleanUpRules[*Barbican](),
)

// Limits are the rules that refuse new values only.
var Limits = slices.Concat(commonv1.ServiceLimits[*Barbican](), commonv1.ServiceUserLimits[*Barbican]())

// Outdated describes the values of a Barbican that a new one could not have, "" if there
// are none.
func Outdated(b *Barbican) string { return Limits.Outdated(b) }

// immutables are the fields of a Barbican that cannot be changed.
var immutables = commonv1.DataImmutables[*Barbican]()

// Validate returns everything that is wrong with a Barbican on its own, that is,
// without looking at other objects. It expects an object that SetDefaults has been
// applied to.
func Validate(b *Barbican) field.ErrorList { return table.Validate(b) }

// ValidateUpdate returns what is wrong with replacing one Barbican with another, in
// addition to what Validate returns for the new one. Both objects must have their
// defaults.
func ValidateUpdate(old, updated *Barbican) field.ErrorList {
	return rules.Unchanged(immutables, old, updated)
}

// refusedKey is why users cannot set the key-encryption key among the options.
const refusedKey = "the operator keeps the key-encryption key in a Secret of its own: put a key that you have there"

func checkKey(options map[string]map[string]string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for section, values := range options {
		if _, set := values[KeyOption]; set && ini.Section(section) == KeySection {
			errs = append(errs, field.Forbidden(at.Key(section).Key(KeyOption), refusedKey))
		}
	}
	return errs
}

// CheckSecretOptions refuses options of the Secret of extraConfigSecretRef that users cannot
// set. The error contains no value.
func CheckSecretOptions(options map[string]map[string]string) error {
	if len(checkKey(options, nil)) == 0 {
		return nil
	}
	return fmt.Errorf("remove [%s] %s: %s", KeySection, KeyOption, refusedKey)
}
