package v1alpha1

import commonv1 "github.com/c5c3/forge/internal/common/types"

// The values SetDefaults fills in. The schema states the same ones, so that an
// API server without the webhook applies them, too.
const (
	DefaultServiceProject = "service"
	DefaultDomain         = "Default"
)

// SetDefaults fills in every unset field that has a default and leaves the rest
// alone. Doing it twice changes nothing more. It runs in the mutating webhook
// and again at the start of a reconcile pass, because an object may have been
// stored while the webhook was off.
func SetDefaults(p *Placement) {
	p.Spec.ServiceSpec.SetDefaults()
	identity := &p.Spec.Identity
	commonv1.SetIfZero(&identity.Project, DefaultServiceProject)
	commonv1.SetIfZero(&identity.ProjectDomain, DefaultDomain)
	commonv1.SetIfZero(&identity.UserDomain, DefaultDomain)
}
