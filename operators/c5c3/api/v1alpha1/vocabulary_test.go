package v1alpha1

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/outside"
	"github.com/c5c3/forge/internal/common/testutil/source"
)

var words = outside.File("../../../../internal/common/vocabulary/words.go")

func constantValues(t *testing.T, file ...string) []string {
	t.Helper()
	constants, err := source.Constants(file...)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]string, 0, len(constants))
	for _, constant := range constants {
		values = append(values, constant.Value)
	}
	slices.Sort(values)
	return slices.Compact(values)
}

func TestEveryConditionAndReasonIsInTheVocabulary(t *testing.T) {
	var listed []string
	for _, kind := range Vocabularies() {
		for _, condition := range kind.Conditions {
			listed = slices.Concat(listed, []string{condition.Type}, condition.True, condition.False)
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(constantValues(t, words, "conditions.go"), slices.Compact(listed)); diff != "" {
		t.Errorf("constants and table differ (-constants +table):\n%s", diff)
	}
}

func TestEveryEventIsInTheVocabulary(t *testing.T) {
	var listed []string
	for _, kind := range Vocabularies() {
		for _, event := range kind.Events {
			listed = append(listed, event.Reason)
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(constantValues(t, "events.go"), listed); diff != "" {
		t.Errorf("constants and table differ (-constants +table):\n%s", diff)
	}
}

func TestReadyAggregatesSevenConditions(t *testing.T) {
	want := []string{
		"InfrastructureReady", "DBCredentialsReady", "AdminPasswordReady", "KeystoneReady", "KORCReady", "AdminCredentialReady",
		"CatalogReady",
	}
	if diff := cmp.Diff(want, Vocabularies()[0].Aggregated()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
