package services

import (
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	horizonv1alpha1 "github.com/c5c3/forge/operators/horizon/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// What Keystone and Horizon tell each other about the logins of users.

// identityDomain is a domain whose users log in with an identity backend of Keystone.
type identityDomain = keystonev1alpha1.IdentityDomain

// identityDomains is handed from the step of Keystone to that of Horizon.
var identityDomains = reconcile.NewSlot[[]identityDomain]("IdentityDomains")

// trustedDashboards returns where a browser comes back to the Horizon of the control plane. Without a
// Gateway it does not reach that.
func trustedDashboards(cp *c5c3v1alpha1.ControlPlane) []string {
	horizon := cp.Spec.Services.Horizon
	if horizon == nil || horizon.Gateway == nil {
		return nil
	}
	return []string{horizonv1alpha1.GatewayEndpoint(horizon.Gateway) + horizonv1alpha1.FederatedLoginPath}
}
