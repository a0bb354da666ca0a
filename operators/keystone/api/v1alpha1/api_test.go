package v1alpha1

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
)

const configDir = "../../config"

func keystones() apitest.Kind[*Keystone] {
	shared := apitest.Service[*Keystone]{Selector: SelectorLabels, Policy: "identity:list_users"}
	return shared.Completed(apitest.Kind[*Keystone]{
		Definition: configDir + "/crd/bases/keystone.openstack.c5c3.io_keystones.yaml",
		Columns:    []string{"Ready", "Endpoint", "Release", "Age"},
		Minimal:    minimal,
		Complete:   []func() *Keystone{complete},

		Rules:       slices.Concat(table, Limits.Table()),
		Immutables:  immutables,
		UpdateRules: ValidateUpdate,
		Defaults:    SetDefaults,

		Violations: apitest.Violations(violations()),
		Unwritable: apitest.Violations(emptySchedules()),
		Updates:    apitest.Violations(immutableChanges()),
		Accepted:   accepted(),
		Mutable:    mutableChanges(),
		Obsolete: func(k *Keystone) {
			k.Spec.PriorityClassName = new("gone")
			k.Spec.Fernet.RotationSchedule = "no longer valid"
		},

		DefaultRows:   apitest.Defaults(defaultRows()),
		SameAsNothing: []string{"spec.federation.enabled required"},
		Words:         []string{"keystone"},
	})
}

func kinds() apitest.Kinds { return apitest.Kinds{keystones()} }

func TestEachRuleNamesItsFieldAndWhatToDo(t *testing.T) {
	kinds().Each(t, apitest.Subject.EachRuleNamesItsField)
}

func TestEveryViolationBreaksExactlyOneRule(t *testing.T) {
	kinds().Each(t, apitest.Subject.EachRuleIsBrokenAlone)
}

func TestValidSpecsAreAccepted(t *testing.T) { kinds().Each(t, apitest.Subject.WhatWorksIsAccepted) }

func TestStoredValuesThatTheSchemaForbidsAreRefused(t *testing.T) {
	kinds().Each(t, apitest.Subject.UnwritableIsRefused)
}

func TestEveryRuleHasAViolation(t *testing.T) {
	kinds().Each(t, apitest.Subject.EveryRuleHasAViolation)
}

func TestEveryViolationBelongsToARule(t *testing.T) {
	kinds().Each(t, apitest.Subject.EveryViolationBelongsToARule)
}

func TestEveryRefusalInTheSourceHasAViolation(t *testing.T) {
	// JSON carries no text that is not valid UTF-8.
	kinds().EveryRefusalInTheSourceHasAViolation(t, "validation*.go", " must be valid UTF-8")
}

func TestEveryRuleOfTheSchemaHasAViolation(t *testing.T) {
	kinds().Each(t, apitest.Subject.EveryRuleOfTheSchemaHasAViolation)
}

func TestWhatTheSchemaRefusesTheOperatorRefuses(t *testing.T) {
	kinds().Each(t, apitest.Subject.WhatTheSchemaRefusesTheOperatorRefuses)
}

func TestImmutableFieldsKeepTheirValue(t *testing.T) {
	kinds().Each(t, apitest.Subject.ImmutableFieldsKeepTheirValue)
}

func TestMutableFieldsMayChange(t *testing.T) {
	kinds().Each(t, apitest.Subject.MutableFieldsMayChange)
}

func TestEveryDefaultOfTheSchemaIsInTheTable(t *testing.T) {
	kinds().Each(t, apitest.Subject.EveryDefaultIsInTheTable)
}

func TestTheOperatorFillsInEveryDefaultOfTheTable(t *testing.T) {
	kinds().Each(t, apitest.Subject.TheOperatorFillsInEveryDefault)
}

func TestDefaultingIsIdempotent(t *testing.T) {
	kinds().Each(t, apitest.Subject.DefaultingTwiceIsDefaultingOnce)
}

func TestValidationNeverPanicsAndNamesAField(t *testing.T) {
	kinds().Each(t, apitest.Subject.ValidationNamesAField)
}

func TestAValidKeystoneStaysValidWithDefaults(t *testing.T) {
	kinds().Each(t, apitest.Subject.AValidObjectStaysValid)
}

func TestEveryConditionAndReasonIsInTheVocabulary(t *testing.T) {
	apitest.EveryConditionAndReasonIsListed(t, Vocabularies(), "conditions.go")
}

func TestEveryEventIsInTheVocabulary(t *testing.T) {
	apitest.EveryEventIsListed(t, Vocabularies(), "events.go")
}

func TestReadyAggregatesFourteenConditions(t *testing.T) {
	aggregated := Vocabularies()[0].Aggregated()
	slices.Sort(aggregated)
	want := []string{
		"BootstrapReady", "CredentialKeysReady", "DatabaseReady", "DatabaseTLSReady", "DeploymentReady", "FernetKeysReady",
		"HPAReady", "HTTPRouteReady", "KeystoneAPIReady", "NetworkPolicyReady", "PasswordRotationReady", "PolicyValidReady",
		"SecretsReady", "TrustFlushReady",
	}
	if diff := cmp.Diff(want, aggregated); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
