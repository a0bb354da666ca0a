package controller

import (
	"context"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/redact"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// adminPassword is the administrator's password that the spec refers to, set by Secrets.
var adminPassword = reconcile.NewSlot[redact.Bytes]("AdminPassword")

// reconcileSecrets checks that the referenced Secrets exist and are complete.
func reconcileSecrets(ctx context.Context, s *scope) reconcile.Outcome {
	found, outcome := service.Require(ctx, s.Pass, database.Requirement(s.Pass), adminRequirement(s.keystone))
	if !outcome.IsDone() {
		return outcome
	}
	database.UseSecret(s.Pass, found[0])
	password := found[1].Data[passwordKey(s.keystone.Spec.Bootstrap.AdminPasswordSecretRef)]
	s.Hide(string(password))
	adminPassword.Put(s.Slots, password)
	return outcome
}

func passwordKey(ref commonv1.SecretRefSpec) string {
	return ref.KeyOr(commonv1.DatabasePasswordKey)
}

func adminRequirement(k *keystonev1alpha1.Keystone) service.Requirement {
	ref := k.Spec.Bootstrap.AdminPasswordSecretRef
	return service.Requirement{
		Name: ref.Name, Keys: []string{passwordKey(ref)},
		Field: "spec.bootstrap.adminPasswordSecretRef", Reason: keystonev1alpha1.ReasonWaitingForAdminCredentials,
	}
}
