package controller

import (
	"time"

	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// toolbox holds the dependencies of Keystone's steps in addition to those of every
// service.
type toolbox struct {
	proofs    *proof.Prover
	lifetimes *lifetimes
	// secretStoreTimeout bounds the waits for External Secrets during deletion.
	secretStoreTimeout time.Duration
	// propagation is the maximum time until a changed Secret has reached all pods.
	propagation time.Duration
}

// scope is one pass over one Keystone.
type scope struct {
	*service.Pass
	*toolbox
	keystone *keystonev1alpha1.Keystone
}

// keystoneOf returns the Keystone of the pass.
func keystoneOf(p *service.Pass) *keystonev1alpha1.Keystone {
	k, _ := p.Resource.(*keystonev1alpha1.Keystone)
	return k
}
