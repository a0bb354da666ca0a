package v1alpha1

import "cmp"

// The defaults of spec.cleanUp.
const (
	DefaultCleanUpSchedule       = "30 3 * * *"
	DefaultCleanUpMinDays  int32 = 90
)

// SetDefaults fills in every unset field that has a default and leaves the rest
// alone. Doing it twice changes nothing more. It runs in the mutating webhook
// and again at the start of a reconcile pass, because an object may have been
// stored while the webhook was off.
func SetDefaults(b *Barbican) {
	b.Spec.ServiceSpec.SetDefaults()
	b.Spec.DataSpec.SetDefaults()
	b.Spec.Identity.SetDefaults()
	if b.Spec.CleanUp == nil {
		b.Spec.CleanUp = &CleanUpSpec{}
	}
	b.Spec.CleanUp.Schedule = cmp.Or(b.Spec.CleanUp.Schedule, DefaultCleanUpSchedule)
	b.Spec.CleanUp.MinDays = cmp.Or(b.Spec.CleanUp.MinDays, DefaultCleanUpMinDays)
}
