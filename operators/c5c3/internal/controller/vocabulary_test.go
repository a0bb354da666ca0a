package controller

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/apitest"
)

func TestEveryDocumentedReasonAndEventIsUsed(t *testing.T) {
	folders := []string{
		".", "../appcredential", "../backup", "../controlplane", "../credentialrotation", "../externalsecret", "../infrastructure", "../korc",
		"../secretaggregate", "../services", "../teardown",
	}
	apitest.NothingIsDocumentedThatNothingSays(t, folders, "../../api/v1alpha1/conditions.go", "../../api/v1alpha1/events.go")
}
