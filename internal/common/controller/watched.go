package controller

import "sigs.k8s.io/controller-runtime/pkg/client"

// Watched is a kind that a service's controller watches.
type Watched struct {
	// Object is an empty object of the kind.
	Object client.Object
	// Written reports whether the operator creates and changes objects of the kind.
	Written bool
}

// Watched returns every watched kind except the resource itself, for RBAC checks.
func (c Controller[R, T]) Watched() []Watched {
	kinds := c.kinds()
	watched := make([]Watched, len(kinds))
	for i, kind := range kinds {
		watched[i] = Watched{Object: kind.Object, Written: kind.Relation == Owned}
	}
	return watched
}
