package v1alpha1

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
)

const configDir = "../../config"

func controlPlanes() apitest.Kind[*ControlPlane] {
	return apitest.Kind[*ControlPlane]{
		Definition: configDir + "/crd/bases/c5c3.io_controlplanes.yaml",
		Columns:    []string{"Ready", "Release", "Keystone", "Placement", "Age"},
		Minimal:    minimal,
		Complete:   []func() *ControlPlane{complete, completeInClaim, completeBrownfield},

		Rules:       slices.Concat(table, Limits.Table()),
		Immutables:  immutables,
		UpdateRules: ValidateUpdate,
		Defaults:    SetDefaults,

		Base: withServices,
		Violations: slices.Concat(apitest.Violations(violations()),
			apitest.PodViolations(keystonePath, podsOf(ofKeystone)),
			apitest.PodViolations(barbicanPath, podsOf(ofBarbican)), apitest.PodViolations(placementPath, podsOf(ofPlacement)),
			apitest.PodViolations(glancePath, podsOf(ofGlance)),
			apitest.PodViolations(horizonPath, podsOf(ofHorizon))),
		Mended:   apitest.Violations(mendedViolations()),
		Updates:  apitest.Violations(immutableChanges()),
		Accepted: accepted(),
		Mutable:  mutableChanges(),
		Obsolete: ofService(func(k *ServiceKeystoneSpec) { k.PublicEndpoint = "https:///v3" }),

		DefaultRows: apitest.Defaults(defaultRows()),
		KubernetesFields: []string{
			keystonePath + ".affinity", keystonePath + ".extraEnv[0]", keystonePath + ".resources",
			barbicanPath + ".affinity", barbicanPath + ".extraEnv[0]", barbicanPath + ".resources",
			placementPath + ".affinity", placementPath + ".extraEnv[0]", placementPath + ".resources",
			glancePath + ".affinity", glancePath + ".extraEnv[0]", glancePath + ".resources",
			horizonPath + ".affinity", horizonPath + ".extraEnv[0]", horizonPath + ".resources",
		},
		SharedFields: []string{
			keystonePath + ".identityBackends[0].domain", keystonePath + ".identityBackends[0].ldap",
			keystonePath + ".identityBackends[0].oidc", keystonePath + ".identityBackends[0].saml",
			keystonePath + ".identityBackends[0].mappings", keystonePath + ".identityBackends[0].groups",
		},
		SameAsNothing: []string{
			"spec.services required", databasePath + ".host minLength", databasePath + ".port minimum",
		},
		Words: []string{"", "a", "x\ny", "2025.2", "https://a.example.com", "keystone-admin", "10Gi"},
	}
}

func kinds() apitest.Kinds { return apitest.Kinds{controlPlanes(), rotations(), aggregates()} }

// defaultRow is a field that is filled in when the user leaves it out.
type defaultRow apitest.Default

func defaultRows() []defaultRow {
	tls := databasePath + ".tls"
	return []defaultRow{
		{"spec.region", "RegionOne", ""},
		{databasePath, map[string]any{
			"clusterRef": map[string]any{"name": "openstack-db"}, "database": "keystone", "secretRef": map[string]any{"name": "keystone-db"},
		}, ""},
		{tls + ".enabled", false, tls},
		{tls + ".mode", "require", tls},
		{cachePath, map[string]any{
			"clusterRef": map[string]any{"name": "openstack-memcached"}, "backend": "dogpile.cache.pymemcache", "replicas": int64(3),
		}, ""},
		{barbicanPath + ".database.database", "barbican", barbicanPath},
		{barbicanPath + ".database.secretRef", map[string]any{"name": "barbican-db"}, barbicanPath},
		{placementPath + ".database.database", "placement", placementPath},
		{placementPath + ".database.secretRef", map[string]any{"name": "placement-db"}, placementPath},
		{glancePath + ".database.database", "glance", glancePath},
		{glancePath + ".database.secretRef", map[string]any{"name": "glance-db"}, glancePath},
		{cachePath + ".backend", "dogpile.cache.pymemcache", ""},
		{cachePath + ".replicas", int64(3), ""},
		{"spec.serviceUsers.authentication", "Password", ""},
		{"spec.serviceUsers.credentialDays", int64(30), ""},
		{credentialPath + ".cloudCredentialsRef.cloudName", "admin", ""},
		{cloudsPath, "k-orc-clouds-yaml", ""},
		{credentialPath + ".passwordSecretRef", map[string]any{"name": "keystone-admin", "key": "password"}, ""},
		{credentialPath + ".applicationCredential.restricted", true, ""},
		{credentialPath + ".applicationCredential.rotation.mode", "PasswordDriven", ""},
	}
}

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
	// The operator fills in the name of a database that has none.
	kinds().EveryRefusalInTheSourceHasAViolation(t, "validation*.go", "name the database, for example ")
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

func TestAValidControlPlaneStaysValidWithDefaults(t *testing.T) {
	kinds().Each(t, apitest.Subject.AValidObjectStaysValid)
}

func TestEveryConditionAndReasonIsInTheVocabulary(t *testing.T) {
	apitest.EveryConditionAndReasonIsListed(t, Vocabularies(), "conditions.go")
}

func TestEveryEventIsInTheVocabulary(t *testing.T) {
	apitest.EveryEventIsListed(t, Vocabularies(), "events.go")
}

func TestReadyAggregatesTwelveConditions(t *testing.T) {
	want := []string{
		"InfrastructureReady", "DBCredentialsReady", "AdminPasswordReady", "RestoreReady", "KeystoneReady", "KORCReady", "AdminCredentialReady",
		"BarbicanReady", "PlacementReady", "GlanceReady", "HorizonReady", "CatalogReady",
	}
	if diff := cmp.Diff(want, Vocabularies()[0].Aggregated()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
