package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// DefaultStagingSize is the default of spec.stagingSize.
var DefaultStagingSize = resource.MustParse("20Gi")

// SetDefaults fills in every unset field that has a default and leaves the rest
// alone. Doing it twice changes nothing more. It runs in the mutating webhook
// and again at the start of a reconcile pass, because an object may have been
// stored while the webhook was off.
func SetDefaults(p *Glance) {
	p.Spec.ServiceSpec.SetDefaults()
	p.Spec.DataSpec.SetDefaults()
	p.Spec.Identity.SetDefaults()
	commonv1.SetCleanUpDefaults(&p.Spec.CleanUp)
	if p.Spec.StagingSize == nil {
		p.Spec.StagingSize = new(DefaultStagingSize)
	}
}
