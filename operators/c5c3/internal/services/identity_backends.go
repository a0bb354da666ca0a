package services

import (
	"context"

	"github.com/c5c3/forge/internal/common/reconcile"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// identityBackends builds the identity backends of a control plane's Keystone.
func identityBackends(cp *c5c3v1alpha1.ControlPlane) []part {
	backends := make([]part, 0, len(cp.IdentityBackends()))
	for _, backend := range cp.IdentityBackends() {
		backends = append(backends, &keystonev1alpha1.KeystoneIdentityBackend{
			ObjectMeta: controlplane.ChildMeta(cp, backend.Name),
			Spec: keystonev1alpha1.KeystoneIdentityBackendSpec{
				KeystoneRef:         commonv1.ServiceReference{Name: cp.KeystoneName()},
				IdentityBackendSpec: *backend.IdentityBackendSpec.DeepCopy(),
			},
		})
	}
	return backends
}

// ReconcileIdentityBackends applies the identity backends and reports their progress. It does not wait for
// the Keystone, which may need another backend, or one less, to become ready. Nothing waits for this step: a
// directory that is down concerns its own users only.
func (all List) ReconcileIdentityBackends(ctx context.Context, s *pass.Pass) reconcile.Outcome {
	svc := all.Identity()
	if !svc.wanted(s.CP) {
		return reconcile.Done(c5c3v1alpha1.ReasonKeystoneNotManaged, svc.field()+" is not set: identity backends stay or go with the Keystone")
	}
	none := len(s.CP.IdentityBackends()) == 0
	if !none && !s.Kinds.Served(svc.Parts.Kind) {
		return reconcile.Degraded(svc.reasons.notInstalled, svc.toInstall(svc.Parts.Kind.Kind))
	}
	waits, err := svc.applyParts(ctx, s)
	switch {
	case err != nil:
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonIdentityBackendError, err)
	case waits != "":
		return reconcile.Degraded(c5c3v1alpha1.ReasonWaitingForIdentityBackends, waits)
	case none:
		return reconcile.Done(c5c3v1alpha1.ReasonNoIdentityBackends, svc.field()+".identityBackends is empty")
	}
	return reconcile.Done(c5c3v1alpha1.ReasonIdentityBackendsReady, "All identity backends are ready")
}
