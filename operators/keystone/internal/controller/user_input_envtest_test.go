//go:build integration

package controller_test

import (
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

func withOptions(w *world) {
	w.keystone.Spec.ExtraConfig = map[string]map[string]string{"token": {"allow_expired_window": "3600"}}
}

func withPolicy(w *world) {
	w.keystone.Spec.PolicyOverrides = &commonv1.PolicySpec{Rules: map[string]string{"identity:list_users": "role:reader"}}
}

// both makes one cause of two.
func both(first, second func(*world)) func(*world) {
	return func(w *world) {
		first(w)
		second(w)
	}
}

func TestWhatUsersWriteIsCheckedBeforeAPodSeesIt(t *testing.T) {
	for _, f := range []failure{
		{
			name: "options that are being read", cause: both(withOptions, setJob("config-check", standin.Hang())),
			condition: "SecretsReady", reason: "ConfigCheckInProgress", says: []string{"keystone-config-check"},
			repair: setJob("config-check", standin.Succeed()),
		},
		{
			name: "options that the image cannot read", cause: both(withOptions, setJob("config-check", standin.Fail("not an integer"))),
			condition: "SecretsReady", reason: "ConfigError", says: []string{"spec.extraConfig", "correct them", "not an integer"},
			repair: func(w *world) {
				objects.Change(w.T, w.client, w.keystone, func(k *keystonev1alpha1.Keystone) { k.Spec.ExtraConfig = nil })
			},
		},
		{
			name: "policy that is being checked", cause: both(withPolicy, setJob("policy-validation", standin.Hang())),
			condition: "PolicyValidReady", reason: "PolicyValidationInProgress", says: []string{"keystone-policy-validation"},
			repair: setJob("policy-validation", standin.Succeed()),
		},
		{
			name: "policy that is not valid", cause: both(withPolicy, setJob("policy-validation", standin.Fail("no such rule"))),
			condition: "PolicyValidReady", reason: "PolicyValidationFailed", says: []string{"correct them", "no such rule"},
			repair: func(w *world) {
				objects.Change(w.T, w.client, w.keystone, func(k *keystonev1alpha1.Keystone) { k.Spec.PolicyOverrides = nil })
			},
		},
	} {
		t.Run(f.name, f.run)
	}
}
