package v1alpha1

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// No webhook refuses a CredentialRotation or a SecretAggregate: the schema states
// all their rules, and these tables repeat them for objects from before a rule.

const maxDays = 36500

var rotationTable = rules.Table[*CredentialRotation]{
	{Path: "spec.target", Check: checkTarget},
	{Path: "spec.intervalDays", Check: days(1, func(s *CredentialRotationSpec) *int32 { return s.IntervalDays })},
	{Path: "spec.preRotationDays", Check: days(0, func(s *CredentialRotationSpec) *int32 { return s.PreRotationDays })},
	{Path: "spec.preRotationDays", Check: checkPreRotation},
	{Path: "spec.gracePeriodDays", Check: days(0, func(s *CredentialRotationSpec) *int32 { return s.GracePeriodDays })},
}

var aggregateTable = rules.Table[*SecretAggregate]{
	{Path: "spec.targetSecretName", Check: checkTargetSecret},
	{Path: "spec.sources", Check: checkSources},
}

// ValidateCredentialRotation returns everything that is wrong with a
// CredentialRotation.
func ValidateCredentialRotation(rotation *CredentialRotation) field.ErrorList {
	return rotationTable.Validate(rotation)
}

// ValidateSecretAggregate returns everything that is wrong with a
// SecretAggregate.
func ValidateSecretAggregate(aggregate *SecretAggregate) field.ErrorList {
	return aggregateTable.Validate(aggregate)
}

var rotationTargets = []RotationTarget{RotationTargetAdminApplicationCredential}

func checkTarget(rotation *CredentialRotation, at *field.Path) field.ErrorList {
	if slices.Contains(rotationTargets, rotation.Spec.Target) {
		return nil
	}
	return field.ErrorList{field.NotSupported(at, rotation.Spec.Target, rotationTargets)}
}

// days checks a number of days that is not nil.
func days(minimum int32, get func(*CredentialRotationSpec) *int32) rules.Check[*CredentialRotation] {
	return func(rotation *CredentialRotation, at *field.Path) field.ErrorList {
		value := get(&rotation.Spec)
		if value == nil || *value >= minimum && *value <= maxDays {
			return nil
		}
		return field.ErrorList{field.Invalid(at, *value, validation.InclusiveRangeError(int(minimum), maxDays))}
	}
}

func checkPreRotation(rotation *CredentialRotation, at *field.Path) field.ErrorList {
	interval, before := rotation.Spec.IntervalDays, rotation.Spec.PreRotationDays
	if interval == nil || before == nil || *before < *interval {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *before, "preRotationDays must be less than intervalDays")}
}

func checkTargetSecret(aggregate *SecretAggregate, at *field.Path) field.ErrorList {
	name := aggregate.Spec.TargetSecretName
	if name == "" {
		return nil
	}
	var errs field.ErrorList
	for _, message := range validation.IsDNS1123Subdomain(name) {
		errs = append(errs, field.Invalid(at, name, message))
	}
	return errs
}

var aggregatedCredentials = []AggregatedCredential{
	AggregatedAdminApplicationCredential, AggregatedAdminPassword, AggregatedDatabaseCredentials,
}

func checkSources(aggregate *SecretAggregate, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	seen := map[AggregatedCredential]bool{}
	for i, source := range aggregate.Spec.Sources {
		entry := at.Index(i)
		if seen[source.Credential] {
			errs = append(errs, field.Duplicate(entry, source.Credential))
		}
		seen[source.Credential] = true
		if !slices.Contains(aggregatedCredentials, source.Credential) {
			errs = append(errs, field.NotSupported(entry.Child("credential"), source.Credential, aggregatedCredentials))
		}
		errs = append(errs, checkKeys(source.Keys, entry.Child("keys"))...)
		if prefix := source.KeyPrefix; prefix != nil && strings.ContainsFunc(*prefix, notInKey) {
			errs = append(errs, field.Invalid(entry.Child("keyPrefix"), *prefix, "must consist of letters, digits, '-', '_' and '.'"))
		}
	}
	return errs
}

func checkKeys(keys []string, at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			errs = append(errs, field.Duplicate(at.Index(i), key))
		}
		if key == "" || strings.ContainsFunc(key, notInKey) {
			errs = append(errs, field.Invalid(at.Index(i), key, "must consist of letters, digits, '-', '_' and '.'"))
		}
	}
	return errs
}

// notInKey reports whether a Secret's key may not contain the character.
func notInKey(r rune) bool {
	inKey := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
	return !inKey
}
