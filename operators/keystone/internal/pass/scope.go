// Package pass holds what the steps of one pass over a Keystone share: the resource, the
// dependencies, what the steps hand to each other, and the names of a Keystone's objects.
package pass

import (
	"time"

	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/metrics"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// Toolbox holds the dependencies of Keystone's steps in addition to those of every
// service.
type Toolbox struct {
	Proofs    *proof.Prover
	Lifetimes *metrics.Lifetimes
	// SecretStoreTimeout bounds the waits for External Secrets during deletion.
	SecretStoreTimeout time.Duration
	// Propagation is the maximum time until a changed Secret has reached all pods.
	Propagation time.Duration
}

// Scope is one pass over one Keystone.
type Scope = service.Scope[*keystonev1alpha1.Keystone, *Toolbox]
