//go:build integration

package controller_test

import (
	"github.com/c5c3/forge/internal/common/testutil/expect"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// vocabulary is what the tests of this package show together.
func vocabulary() []expect.Vocabulary {
	v := expect.Vocabulary{Kind: "Keystone", Unreached: map[string]string{
		"ReconcileError": "it is the reason of the step that failed, while Ready says NotAllReady",
	}}
	for _, condition := range keystonev1alpha1.Conditions() {
		v.Conditions = append(v.Conditions, expect.Reasons{Type: condition.Type, True: condition.True, False: condition.False})
	}
	return []expect.Vocabulary{v}
}
