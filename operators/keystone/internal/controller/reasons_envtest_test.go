//go:build integration

package controller_test

import (
	"github.com/c5c3/forge/internal/common/testutil/expect"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// vocabularies are covered by the tests of this package together.
func vocabularies() []expect.Vocabulary {
	return expect.Vocabularies(keystonev1alpha1.Vocabularies(), map[string]map[string]string{
		"Keystone":                {"ReconcileError": "it is the reason of the step that failed, while Ready says NotAllReady"},
		"KeystoneIdentityBackend": {"ReconcileError": "it is the reason of the step that failed, while Ready says NotAllReady"},
	})
}
