package v1alpha1

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
)

type rotationViolation apitest.Violation[*CredentialRotation]

func minimalRotation() *CredentialRotation {
	return &CredentialRotation{
		ObjectMeta: metav1.ObjectMeta{Name: "rotate", Namespace: "openstack"},
		Spec:       CredentialRotationSpec{Target: RotationTargetAdminApplicationCredential},
	}
}

func completeRotation() *CredentialRotation {
	rotation := minimalRotation()
	rotation.Spec = CredentialRotationSpec{
		Target: RotationTargetAdminApplicationCredential, Bootstrap: true, ReMint: true,
		IntervalDays: new(int32(30)), PreRotationDays: new(int32(29)), GracePeriodDays: new(int32(1)),
	}
	return rotation
}

func rotations() apitest.Kind[*CredentialRotation] {
	return apitest.Kind[*CredentialRotation]{
		Definition: configDir + "/crd/bases/c5c3.io_credentialrotations.yaml",
		Columns:    []string{"Target", "Ready", "Age"},
		Minimal:    minimalRotation,
		Complete:   []func() *CredentialRotation{completeRotation},
		Rules:      rotationTable,
		Violations: apitest.Violations(rotationViolations()),
		Accepted: map[string]func(*CredentialRotation){
			"a schedule": func(r *CredentialRotation) { r.Spec = completeRotation().Spec },
			"no grace":   func(r *CredentialRotation) { r.Spec.GracePeriodDays = new(int32(0)) },
		},
		DefaultRows: []apitest.Default{{Path: "spec.bootstrap", Want: false}, {Path: "spec.reMint", Want: false}},
		Words:       []string{"", "a", "x\ny", "adminApplicationCredential"},
	}
}

func rotationViolations() []rotationViolation {
	return []rotationViolation{
		{
			"an unknown target", func(r *CredentialRotation) { r.Spec.Target = "everything" },
			"spec.target", "Unsupported value", "Unsupported value", "",
		},
		{
			"an interval of no day", func(r *CredentialRotation) { r.Spec.IntervalDays = new(int32(0)) },
			"spec.intervalDays", "must be between 1 and 36500", apitest.TooSmall, "",
		},
		{
			"an interval of a thousand years", func(r *CredentialRotation) { r.Spec.IntervalDays = new(int32(365000)) },
			"spec.intervalDays", "must be between 1 and 36500", apitest.TooLarge, "",
		},
		{
			"a rotation after its interval", func(r *CredentialRotation) { r.Spec.PreRotationDays = new(int32(-1)) },
			"spec.preRotationDays", "must be between 0", apitest.TooSmall, "",
		},
		{
			"a rotation before its interval", func(r *CredentialRotation) {
				r.Spec.IntervalDays, r.Spec.PreRotationDays = new(int32(7)), new(int32(7))
			},
			"spec.preRotationDays", "preRotationDays must be less than intervalDays", "preRotationDays must be less than intervalDays", "",
		},
		{
			"a grace period of less than nothing", func(r *CredentialRotation) { r.Spec.GracePeriodDays = new(int32(-1)) },
			"spec.gracePeriodDays", "must be between 0", apitest.TooSmall, "",
		},
	}
}

type aggregateViolation apitest.Violation[*SecretAggregate]

func minimalAggregate() *SecretAggregate {
	return &SecretAggregate{ObjectMeta: metav1.ObjectMeta{Name: "all", Namespace: "openstack"}}
}

func completeAggregate() *SecretAggregate {
	aggregate := minimalAggregate()
	aggregate.Spec = SecretAggregateSpec{TargetSecretName: "credentials", Sources: []SecretAggregateSource{
		{Credential: AggregatedAdminPassword, Keys: []string{"password"}, KeyPrefix: new("admin_")},
	}}
	return aggregate
}

func aggregates() apitest.Kind[*SecretAggregate] {
	return apitest.Kind[*SecretAggregate]{
		Definition: configDir + "/crd/bases/c5c3.io_secretaggregates.yaml",
		Minimal:    minimalAggregate,
		Complete:   []func() *SecretAggregate{completeAggregate},
		Rules:      aggregateTable,
		Violations: apitest.Violations(aggregateViolations()),
		Accepted: map[string]func(*SecretAggregate){
			"all fields": func(a *SecretAggregate) { a.Spec = completeAggregate().Spec },
			"no prefix":  from(SecretAggregateSource{Credential: AggregatedAdminPassword, KeyPrefix: new("")}),
		},
		Words: []string{"", "a", "x\ny", "adminPassword"},
	}
}

func from(sources ...SecretAggregateSource) func(*SecretAggregate) {
	return func(a *SecretAggregate) { a.Spec.Sources = sources }
}

func aggregateViolations() []aggregateViolation {
	password := SecretAggregateSource{Credential: AggregatedAdminPassword}
	return []aggregateViolation{
		{
			"a Secret that cannot exist", func(a *SecretAggregate) { a.Spec.TargetSecretName = "All_Secrets" },
			"spec.targetSecretName", "RFC 1123 subdomain", apitest.NoMatch, "",
		},
		{
			"a credential that is not the control plane's", from(SecretAggregateSource{Credential: "rootPassword"}),
			"spec.sources[0].credential", "Unsupported value", "Unsupported value", "",
		},
		{"a credential twice", from(password, password), "spec.sources[1]", "Duplicate value", "Duplicate value", ""},
		{
			"a key that cannot exist", from(SecretAggregateSource{Credential: AggregatedAdminPassword, Keys: []string{"pass word"}}),
			"spec.sources[0].keys[0]", "must consist of", apitest.NoMatch, "",
		},
		{
			"a key twice", from(SecretAggregateSource{Credential: AggregatedAdminPassword, Keys: []string{"password", "password"}}),
			"spec.sources[0].keys[1]", "Duplicate value", "Duplicate value", "",
		},
		{
			"a prefix that no key can have", from(SecretAggregateSource{Credential: AggregatedAdminPassword, KeyPrefix: new("admin/")}),
			"spec.sources[0].keyPrefix", "must consist of", apitest.NoMatch, "",
		},
	}
}

func TestASecretAggregateTargetsASecretOfItsOwnNameByDefault(t *testing.T) {
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

func TestKeyPrefixesOfSourcesDifferByDefault(t *testing.T) {
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
