package controller

import (
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/operators/c5c3/internal/credentialrotation"
	"github.com/c5c3/forge/operators/c5c3/internal/secretaggregate"
)

// Outlines describes the controllers of this operator for the documentation.
func Outlines() []reconcile.Outline {
	return []reconcile.Outline{
		reconcile.NewOutline("ControlPlane", pipeline, finalizers),
		reconcile.NewOutline("CredentialRotation", credentialrotation.Pipeline, nil),
		reconcile.NewOutline("SecretAggregate", secretaggregate.Pipeline, nil),
	}
}
