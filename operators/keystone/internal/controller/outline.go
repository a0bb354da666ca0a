package controller

import (
	"github.com/c5c3/forge/internal/common/reconcile"
)

// Outlines describes the controllers of this operator for the documentation.
func Outlines() []reconcile.Outline {
	return []reconcile.Outline{reconcile.NewOutline("Keystone", pipeline, finalizers)}
}
