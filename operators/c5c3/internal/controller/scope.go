package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

// toolbox is what the steps of every pass work with.
type toolbox struct {
	client client.Client
	// foreign is client for the kinds of other operators.
	foreign client.Client
	scheme  *runtime.Scheme
	refs    *refs.Reader
	owned   secrets.Owned
	kinds   servedKinds
	// background does what asks Keystone itself.
	background *probe.Background
	proofs     *proofs
	// revokeCredential, enrol, deleteUser and setRegion ask Keystone itself.
	revokeCredential Revoke
	enrol            Enrol
	deleteUser       Revoke
	setRegion        SetRegion
	revocations      *revocations
	cluster          cluster.Settings
	// clock is nil for time.Now.
	clock func() time.Time
	// ahead is nil where no namespace has a clock of its own.
	ahead func(namespace string) time.Duration

	stallTimeout, retryPeriod, spreadTime time.Duration
	// serviceClients are the namespaces that have to reach every service that says
	// who does.
	serviceClients []string
}

// servedKinds knows which of the kinds of other operators the cluster serves.
type servedKinds interface {
	Served(schema.GroupVersionKind) bool
}

// now is the time in a namespace.
func (t *toolbox) now(namespace string) time.Time {
	now := time.Now()
	if t.clock != nil {
		now = t.clock()
	}
	if t.ahead != nil {
		now = now.Add(t.ahead(namespace))
	}
	return now
}

// forget drops what is kept in memory about a control plane.
func (t *toolbox) forget(cp types.NamespacedName) {
	t.background.Forget(cp)
	t.proofs.forget(cp)
	t.revocations.forget(cp)
}

// scope is one pass over one ControlPlane.
type scope struct {
	*toolbox
	// Slots are what the steps of the pass hand on.
	*reconcile.Slots
	cp *c5c3v1alpha1.ControlPlane
}

// newScope returns a pass over the control plane.
func newScope(tools *toolbox, cp *c5c3v1alpha1.ControlPlane) *scope {
	return &scope{toolbox: tools, Slots: &reconcile.Slots{}, cp: cp}
}

func (s *scope) now() time.Time { return s.toolbox.now(s.cp.Namespace) }

func (s *scope) name() types.NamespacedName { return client.ObjectKeyFromObject(s.cp) }

func (s *scope) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.cp.Namespace, Name: name}
}
