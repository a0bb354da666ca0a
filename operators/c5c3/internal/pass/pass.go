// Package pass holds the state of one pass over a control plane: the resource, the
// dependencies of the operator, and the values that steps pass to each other.
package pass

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
)

// Tools are the dependencies that the steps of every pass share.
type Tools struct {
	Client client.Client
	// Foreign is the client for the kinds of other operators.
	Foreign client.Client
	Scheme  *runtime.Scheme
	Refs    *refs.Reader
	Owned   secrets.Owned
	Kinds   servedKinds
	// Proofs runs requests to Keystone in the background.
	Proofs *identity.Proofs
	// RevokeCredential and the following functions send requests to Keystone.
	RevokeCredential identity.Revoke
	Enrol            identity.Enrol
	DeleteUser       identity.Revoke
	SetEndpoints     identity.SetEndpoints
	FindEndpoint     identity.FindEndpoint
	FindEntries      identity.FindEntries
	RemoveEntry      identity.RemoveEntry
	Cluster          cluster.Settings
	// Clock returns the current time; nil means time.Now.
	Clock func() time.Time
	// Ahead returns how far the clock of a namespace is ahead; nil means that none is.
	Ahead func(namespace string) time.Duration

	StallTimeout, RetryPeriod, SpreadTime time.Duration
	// ServiceClients are the namespaces that must reach every service that restricts its
	// clients.
	ServiceClients []string
}

// servedKinds reports which kinds of other operators the cluster serves.
type servedKinds interface {
	Served(schema.GroupVersionKind) bool
}

// Now returns the time in a namespace.
func (t *Tools) Now(namespace string) time.Time {
	now := time.Now()
	if t.Clock != nil {
		now = t.Clock()
	}
	if t.Ahead != nil {
		now = now.Add(t.Ahead(namespace))
	}
	return now
}

// Pass is one pass over one ControlPlane.
type Pass struct {
	*Tools
	// Slots hold what one step hands to later ones.
	*reconcile.Slots
	CP *c5c3v1alpha1.ControlPlane
	// Name is the key of the control plane.
	Name types.NamespacedName
	// Now returns the time in its namespace.
	Now func() time.Time
}

// New returns a pass over the control plane.
func New(tools *Tools, cp *c5c3v1alpha1.ControlPlane) *Pass {
	return &Pass{
		Tools: tools, Slots: &reconcile.Slots{}, CP: cp, Name: client.ObjectKeyFromObject(cp),
		Now: func() time.Time { return tools.Now(cp.Namespace) },
	}
}

// Key returns the key of an object in the namespace of the control plane.
func Key(s *Pass, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.Name.Namespace, Name: name}
}

// FieldManager owns the fields that a control plane sets on the resources of other
// operators and on related objects. It differs from the manager that those operators use
// on their own children.
const FieldManager = "c5c3-operator"

// DefaultStallTimeout is how long K-ORC may take for one step of a replacement.
const DefaultStallTimeout = 5 * time.Minute

// DefaultRetryPeriod is the first delay before an object with a terminal error of K-ORC
// is recreated.
const DefaultRetryPeriod = 30 * time.Second
