package v1alpha1

import commonv1 "github.com/c5c3/forge/internal/common/types"

// SetDefaults fills in every unset field that has a default and leaves the rest
// alone. Doing it twice changes nothing more. It runs in the mutating webhook
// and again at the start of a reconcile pass, because an object may have been
// stored while the webhook was off.
func SetDefaults(b *Barbican) {
	b.Spec.ServiceSpec.SetDefaults()
	b.Spec.DataSpec.SetDefaults()
	b.Spec.Identity.SetDefaults()
	commonv1.SetCleanUpDefaults(&b.Spec.CleanUp)
}
