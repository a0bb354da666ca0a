package controller

import (
	"slices"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
	"github.com/c5c3/forge/internal/common/testutil/permission"
)

func TestEveryDocumentedReasonIsUsed(t *testing.T) {
	apitest.NothingIsDocumentedThatNothingSays(t, []string{"."}, "../../api/v1alpha1/conditions.go")
}

func TestTheMarkersPermitWhatTheControllerWatchesAndWrites(t *testing.T) {
	permission.Check(t, Controller.Scheme(), Controller.Watched(), "glance_controller.go")
}

func TestThePipelineIsValid(t *testing.T) {
	if err := pipeline.Validate(); err != nil {
		t.Error(err)
	}
}

func TestTheIdentifiersOfDeletedImagesAreNotRemoved(t *testing.T) {
	want := []string{"glance-manage", "db", "purge", "--age_in_days", "90", "--max_rows", "-1"}
	if got := cleanUp.Command("90"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
