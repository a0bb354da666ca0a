package controller

import (
	"github.com/c5c3/forge/internal/common/reconcile"
)

// Outlines returns what the controllers of this operator do in a pass. That of
// CredentialRotations has no steps.
func Outlines() []reconcile.Outline {
	return []reconcile.Outline{
		reconcile.NewOutline("ControlPlane", pipeline, finalizers),
		reconcile.NewOutline[*aggregation]("SecretAggregate", aggregatePipeline, nil),
	}
}
