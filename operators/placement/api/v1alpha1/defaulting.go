package v1alpha1

// SetDefaults fills in every unset field that has a default and leaves the rest
// alone. Doing it twice changes nothing more. It runs in the mutating webhook
// and again at the start of a reconcile pass, because an object may have been
// stored while the webhook was off.
func SetDefaults(p *Placement) {
	p.Spec.ServiceSpec.SetDefaults()
	p.Spec.DataSpec.SetDefaults()
	p.Spec.Identity.SetDefaults()
}
