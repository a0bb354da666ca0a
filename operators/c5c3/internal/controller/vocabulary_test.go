package controller

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
)

func TestNoReasonAndNoEventIsDocumentedThatNothingSays(t *testing.T) {
	apitest.NothingIsDocumentedThatNothingSays(t, []string{"."}, "../../api/v1alpha1/conditions.go", "../../api/v1alpha1/events.go")
}
