package v1alpha1

import commonv1 "github.com/c5c3/forge/internal/common/types"

// SetDefaults fills in every unset field that has a default and leaves the rest
// alone. Doing it twice changes nothing more. It runs in the mutating webhook
// and again at the start of a reconcile pass, because an object may have been
// stored while the webhook was off.
func SetDefaults(h *Horizon) {
	h.Spec.ServiceSpec.SetDefaults()
	commonv1.SetIfZero(&h.Spec.Identity.UserDomain, commonv1.DefaultDomain)
}
