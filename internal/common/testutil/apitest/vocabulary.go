package apitest

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/c5c3/forge/internal/common/testutil/outside"
	"github.com/c5c3/forge/internal/common/testutil/source"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// sharedWords is the file with the conditions and reasons of all kinds, sharedEvents that with
// their events, serviceWords the file with the words of all services, and attachmentWords that with
// those of resources that belong to a service, relative to the
// folder of an API package.
const (
	sharedWords     = "../../../../internal/common/vocabulary/words.go"
	sharedEvents    = "../../../../internal/common/vocabulary/event_words.go"
	serviceWords    = "../../../../internal/common/vocabulary/service_words.go"
	attachmentWords = "../../../../internal/common/vocabulary/attachment.go"
)

// EveryConditionAndReasonIsListed checks that the vocabularies of an API package
// list all conditions and reasons of a file of the package, and beyond those only
// words of services.
func EveryConditionAndReasonIsListed(t *testing.T, kinds []vocabulary.Kind, file string) {
	t.Helper()
	var listed []string
	for _, kind := range kinds {
		for _, condition := range kind.Conditions {
			listed = slices.Concat(listed, []string{condition.Type}, condition.True, condition.False)
		}
	}
	own := values(t, outside.File(sharedWords), file)
	compare(t, own, withoutServiceWords(t, listed, own))
}

// withoutServiceWords removes the words that the shared library defines for all
// services, unless the package has a constant for them.
func withoutServiceWords(t *testing.T, listed, own []string) []string {
	t.Helper()
	shared := values(t, outside.File(serviceWords), outside.File(attachmentWords))
	return slices.DeleteFunc(listed, func(word string) bool {
		return slices.Contains(shared, word) && !slices.Contains(own, word)
	})
}

// EveryEventIsListed checks that the vocabularies of an API package list all events
// of a file of the package, and beyond those only words of services.
func EveryEventIsListed(t *testing.T, kinds []vocabulary.Kind, file string) {
	t.Helper()
	var listed []string
	for _, kind := range kinds {
		for _, event := range kind.Events {
			listed = append(listed, event.Reason)
		}
	}
	own := values(t, outside.File(sharedEvents), file)
	compare(t, own, withoutServiceWords(t, listed, own))
}

// NothingIsDocumentedThatNothingSays checks that the code in the folders, or the
// engine, uses every condition, reason and event of the files.
func NothingIsDocumentedThatNothingSays(t *testing.T, folders []string, files ...string) {
	t.Helper()
	folders = append(folders, outside.File("../../../../internal/common/reconcile"), outside.File("../../../../internal/common/apiservice"))
	unsaid, err := source.Unsaid(folders, append(files, outside.File(sharedWords), outside.File(sharedEvents))...)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range unsaid {
		t.Errorf("nothing says %s", value)
	}
}

func values(t *testing.T, files ...string) []string {
	t.Helper()
	constants, err := source.Constants(files...)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]string, 0, len(constants))
	for _, constant := range constants {
		all = append(all, constant.Value)
	}
	return all
}

func compare(t *testing.T, constants, listed []string) {
	t.Helper()
	slices.Sort(constants)
	slices.Sort(listed)
	if diff := cmp.Diff(slices.Compact(constants), slices.Compact(listed)); diff != "" {
		t.Errorf("constants and vocabularies differ (-constants +vocabularies):\n%s", diff)
	}
}
