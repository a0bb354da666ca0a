package controller

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/outside"
	"github.com/c5c3/forge/internal/common/testutil/source"
)

func TestNoReasonAndNoEventIsDocumentedThatNothingSays(t *testing.T) {
	code := []string{".", outside.File("../../../../internal/common/reconcile")}
	shared := outside.File("../../../../internal/common/vocabulary/words.go")
	unsaid, err := source.Unsaid(code, shared, "../../api/v1alpha1/conditions.go", "../../api/v1alpha1/events.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range unsaid {
		t.Errorf("nothing says %s", value)
	}
}
