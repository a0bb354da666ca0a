package controller

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/c5c3/forge/internal/common/service"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// toolbox is what the steps of every pass work with beside the tools of every
// service.
type toolbox struct {
	proofs    *proof.Prover
	lifetimes *lifetimes
	// secretStoreTimeout bounds the waits for External Secrets during deletion.
	secretStoreTimeout time.Duration
	// propagation is how long it takes at most until a changed Secret is in all pods.
	propagation time.Duration
}

// scope is one pass over one Keystone. The fields below the resource are what
// one step finds out and a later one, which declares that it needs it, uses.
type scope struct {
	*service.Pass
	*toolbox
	keystone *keystonev1alpha1.Keystone

	// installed is set by Installation when it is known what the database holds.
	installed bool
	// unreadable is set by Installation when the database holds credentials that
	// the credential keys cannot read.
	unreadable error
	// bootstrapped is set by Bootstrap once Keystone has the administrator's
	// password of this pass.
	bootstrapped bool
	// bootstrapJob is set with bootstrapped: the Job that gave it the password.
	bootstrapJob *batchv1.Job
}

// keystoneOf is the Keystone of the pass.
func keystoneOf(p *service.Pass) *keystonev1alpha1.Keystone {
	k, _ := p.Resource.(*keystonev1alpha1.Keystone)
	return k
}

func newScope(tools *service.Tools, own *toolbox, k *keystonev1alpha1.Keystone) *scope {
	return &scope{Pass: service.NewPass(tools, &definition, k), toolbox: own, keystone: k}
}
