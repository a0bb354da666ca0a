package upgrade

import (
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// Facts are what an upgrade depends on.
type Facts struct {
	// ControlPlane is nil when the service belongs to none.
	ControlPlane *c5c3v1alpha1.ControlPlane
	// Services are those of the ControlPlane, or the one that belongs to none.
	Services []inventory.Instance
	// Named is the service of the ControlPlane that the user named, "" for none.
	Named string
	// Digests are what [ParseDigests] returns of the digests that the user gives.
	Digests map[string]string
}

// Target is the object whose spec has the release.
func (f Facts) Target() inventory.Ref {
	if f.ControlPlane != nil {
		return inventory.PlaneRef(f.ControlPlane)
	}
	return f.Services[0].Ref()
}
