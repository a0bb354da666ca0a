package inventory

import (
	"strings"
)

// Ref names a ControlPlane or a service.
type Ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// Kinds of the objects that commands work on.
const (
	KindControlPlane = "ControlPlane"
	KindKeystone     = "Keystone"
	KindPlacement    = "Placement"
)

// Arg returns the reference in the form that the commands accept.
func (r Ref) Arg() string { return strings.ToLower(r.Kind) + "/" + r.Name }
