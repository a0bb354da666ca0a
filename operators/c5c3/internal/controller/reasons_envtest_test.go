//go:build integration

package controller_test

import (
	"github.com/c5c3/forge/internal/common/testutil/expect"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// unreached are the reasons of a kind that no run against an API server can show,
// and why.
var unreached = map[string]map[string]string{
	"ControlPlane":       {"ReconcileError": listed},
	"CredentialRotation": {"ControlPlaneListError": listed},
	"SecretAggregate":    {"ReconcileError": listed},
}

const listed = "a cache that has synced answers every list; a unit test shows it"

// vocabularies are what the tests of this package show together.
func vocabularies() (all []expect.Vocabulary) {
	for _, kind := range c5c3v1alpha1.Vocabularies() {
		v := expect.Vocabulary{Kind: kind.Kind, Unreached: unreached[kind.Kind]}
		for _, condition := range kind.Conditions {
			v.Conditions = append(v.Conditions, expect.Reasons{Type: condition.Type, True: condition.True, False: condition.False})
		}
		all = append(all, v)
	}
	return all
}
