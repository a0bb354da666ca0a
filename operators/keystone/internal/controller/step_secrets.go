package controller

import (
	"context"

	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// reconcileSecrets checks that the referenced Secrets exist and are complete.
func reconcileSecrets(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	found, err := service.RequireSecrets(ctx, s.Pass, database.Requirement(s.Pass), adminRequirement(s.Resource))
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonSecretInvalid, err)
	}
	database.UseSecret(s.Pass, found[0])
	password := found[1].Data[pass.AdminPasswordKey(s.Resource)]
	s.Hide(string(password))
	pass.AdminPassword.Put(s.Slots, password)
	return service.SecretsAvailable()
}

func adminRequirement(k *keystonev1alpha1.Keystone) service.Requirement {
	ref := k.Spec.Bootstrap.AdminPasswordSecretRef
	return service.Requirement{
		Name: ref.Name, Keys: []string{pass.AdminPasswordKey(k)},
		Field: "spec.bootstrap.adminPasswordSecretRef", Reason: keystonev1alpha1.ReasonWaitingForAdminCredentials,
	}
}
