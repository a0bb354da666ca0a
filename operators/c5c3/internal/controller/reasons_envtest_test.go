//go:build integration

package controller_test

import (
	"github.com/c5c3/forge/internal/common/testutil/expect"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// unreached are the reasons that no test against an API server can produce, with the
// explanation.
var unreached = map[string]map[string]string{
	"ControlPlane":       {"ReconcileError": listed},
	"CredentialRotation": {"ControlPlaneListError": listed},
	"SecretAggregate":    {"ReconcileError": listed},
}

const listed = "a cache that has synced answers every list; a unit test shows it"

// vocabularies are covered by the tests of this package together.
func vocabularies() []expect.Vocabulary {
	return expect.Vocabularies(c5c3v1alpha1.Vocabularies(), unreached)
}
