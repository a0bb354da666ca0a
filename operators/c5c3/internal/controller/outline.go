package controller

import (
	"github.com/c5c3/forge/internal/common/reconcile"
)

// Outlines returns what the controllers of this operator do in a pass.
func Outlines() []reconcile.Outline {
	return []reconcile.Outline{
		reconcile.NewOutline("ControlPlane", pipeline, finalizers),
		reconcile.NewOutline[*rotationScope]("CredentialRotation", rotationPipeline, nil),
		reconcile.NewOutline[*aggregation]("SecretAggregate", aggregatePipeline, nil),
	}
}
