package v1alpha1

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

type rotationViolation struct {
	spec                  CredentialRotationSpec
	path, message, schema string
}

func rotationViolations() map[string]rotationViolation {
	const target = RotationTargetAdminApplicationCredential
	return map[string]rotationViolation{
		"an unknown target": {
			CredentialRotationSpec{Target: "everything"}, "spec.target", "Unsupported value", "Unsupported value",
		},
		"an interval of no day": {
			CredentialRotationSpec{Target: target, IntervalDays: new(int32(0))}, "spec.intervalDays", "must be between 1 and 36500", tooSmall,
		},
		"an interval of a thousand years": {
			CredentialRotationSpec{Target: target, IntervalDays: new(int32(365000))},
			"spec.intervalDays", "must be between 1 and 36500", "should be less than or equal to",
		},
		"a rotation after its interval": {
			CredentialRotationSpec{Target: target, PreRotationDays: new(int32(-1))}, "spec.preRotationDays", "must be between 0", tooSmall,
		},
		"a rotation before its interval": {
			CredentialRotationSpec{Target: target, IntervalDays: new(int32(7)), PreRotationDays: new(int32(7))},
			"spec.preRotationDays", "preRotationDays must be less than intervalDays", "preRotationDays must be less than intervalDays",
		},
		"a grace period of less than nothing": {
			CredentialRotationSpec{Target: target, GracePeriodDays: new(int32(-1))}, "spec.gracePeriodDays", "must be between 0", tooSmall,
		},
	}
}

type aggregateViolation struct {
	spec                  SecretAggregateSpec
	path, message, schema string
}

func aggregateViolations() map[string]aggregateViolation {
	of := func(sources ...SecretAggregateSource) SecretAggregateSpec {
		return SecretAggregateSpec{Sources: sources}
	}
	return map[string]aggregateViolation{
		"a Secret that cannot exist": {
			SecretAggregateSpec{TargetSecretName: "All_Secrets"}, "spec.targetSecretName", "RFC 1123 subdomain", noMatch,
		},
		"a credential that is not the control plane's": {
			of(SecretAggregateSource{Credential: "rootPassword"}), "spec.sources[0].credential", "Unsupported value", "Unsupported value",
		},
		"a credential twice": {
			of(SecretAggregateSource{Credential: AggregatedAdminPassword}, SecretAggregateSource{Credential: AggregatedAdminPassword}),
			"spec.sources[1]", "Duplicate value", "Duplicate value",
		},
		"a key that cannot exist": {
			of(SecretAggregateSource{Credential: AggregatedAdminPassword, Keys: []string{"pass word"}}),
			"spec.sources[0].keys[0]", "must consist of", noMatch,
		},
		"a prefix that no key can have": {
			of(SecretAggregateSource{Credential: AggregatedAdminPassword, KeyPrefix: new("admin/")}),
			"spec.sources[0].keyPrefix", "must consist of", noMatch,
		},
	}
}

func wantError(t *testing.T, errs field.ErrorList, path, message string) {
	t.Helper()
	if len(errs) == 0 || !slices.ContainsFunc(errs, func(err *field.Error) bool {
		return err.Field == path && strings.Contains(err.Error(), message)
	}) {
		t.Errorf("want an error at %s that says %q, got %v", path, message, errs)
	}
}

func TestARotationThatCannotWorkIsRefused(t *testing.T) {
	for name, v := range rotationViolations() {
		t.Run(name, func(t *testing.T) {
			wantError(t, ValidateCredentialRotation(&CredentialRotation{Spec: v.spec}), v.path, v.message)
		})
	}
}

func TestARotationThatWorksIsAccepted(t *testing.T) {
	rotation := &CredentialRotation{Spec: CredentialRotationSpec{
		Target: RotationTargetAdminApplicationCredential, IntervalDays: new(int32(30)), PreRotationDays: new(int32(29)),
		GracePeriodDays: new(int32(0)), ReMint: true,
	}}
	if errs := ValidateCredentialRotation(rotation); len(errs) > 0 {
		t.Error(errs)
	}
}

func TestAnAggregateThatCannotWorkIsRefused(t *testing.T) {
	for name, v := range aggregateViolations() {
		t.Run(name, func(t *testing.T) {
			wantError(t, ValidateSecretAggregate(&SecretAggregate{Spec: v.spec}), v.path, v.message)
		})
	}
}

func TestAnAggregateNeedsNothingButAName(t *testing.T) {
	aggregate := &SecretAggregate{ObjectMeta: metav1.ObjectMeta{Name: "credentials"}}
	if errs := ValidateSecretAggregate(aggregate); len(errs) > 0 {
		t.Error(errs)
	}
	if got := aggregate.TargetSecret(); got != "credentials" {
		t.Errorf("target %q, expected its own name", got)
	}
	aggregate.Spec.TargetSecretName = "other"
	if got := aggregate.TargetSecret(); got != "other" {
		t.Errorf("target %q, expected the one of the spec", got)
	}
}

func TestKeysOfTwoSourcesDifferUnlessSomebodyWantsThemNotTo(t *testing.T) {
	for want, source := range map[string]SecretAggregateSource{
		"adminPassword.":       {Credential: AggregatedAdminPassword},
		"databaseCredentials.": {Credential: AggregatedDatabaseCredentials},
		"":                     {Credential: AggregatedAdminPassword, KeyPrefix: new("")},
		"db_":                  {Credential: AggregatedDatabaseCredentials, KeyPrefix: new("db_")},
	} {
		if got := source.Prefix(); got != want {
			t.Errorf("%v: prefix %q, expected %q", source, got, want)
		}
	}
}
