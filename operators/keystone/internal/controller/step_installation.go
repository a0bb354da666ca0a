package controller

import (
	"context"

	"github.com/c5c3/forge/internal/common/keysecret"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/keys"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// inspection looks for credentials in the database that need other keys than those that are
// there.
var inspection = keysecret.Inspection{
	Keys:    keys.Credential.Keys,
	Command: []string{"python3", pass.ConfigDir + credentialKeysFile, keystonev1alpha1.CredentialKeyRepository},
	Mount:   keys.MountOf,
}

// reconcileInstallation installs the schema before keys are generated.
func reconcileInstallation(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	return inspection.Reconcile(ctx, s.Pass, keystoneSchema)
}
