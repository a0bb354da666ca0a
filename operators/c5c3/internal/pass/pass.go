// Package pass holds the state of one pass over a control plane: the resource, the
// dependencies of the operator, and the values that steps pass to each other.
package pass

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/identity"
)

// Tools are the dependencies that the steps of every pass share.
type Tools struct {
	kube.Access
	// Proofs runs requests to Keystone in the background.
	Proofs *identity.Proofs
	// Login and the following functions send requests to Keystone.
	Login            identity.Login
	RevokeCredential identity.Revoke
	Enrol            identity.Enrol
	DeleteUser       identity.Revoke
	SetEndpoints     identity.SetEndpoints
	FindEndpoint     identity.FindEndpoint
	FindEntries      identity.FindEntries
	RemoveEntry      identity.RemoveEntry
	// Ahead returns how far the clock of a namespace is ahead; nil means that none is.
	Ahead func(namespace string) time.Duration

	// StallTimeout bounds the waits for K-ORC. RetryPeriod is the first delay before an object
	// with a terminal error of K-ORC is recreated. SpreadTime is the minimum time that a
	// replaced credential stays valid, until its successor has reached all pods.
	StallTimeout, RetryPeriod, SpreadTime time.Duration
	// Day is the length of a day in the schedule of a CredentialRotation.
	Day time.Duration
	// ServiceClients are the namespaces that must reach every service that restricts its
	// clients.
	ServiceClients []string
}

// Now returns the time in a namespace.
func (t *Tools) Now(namespace string) time.Time {
	if t.Ahead != nil {
		return t.Access.Now().Add(t.Ahead(namespace))
	}
	return t.Access.Now()
}

// Pass is one pass over one ControlPlane.
type Pass struct {
	*Tools
	// Slots hold what one step hands to later ones.
	*reconcile.Slots
	CP *c5c3v1alpha1.ControlPlane
	// NamespacedName is the key of the control plane.
	NamespacedName types.NamespacedName
	// Now returns the time in its namespace.
	Now func() time.Time
}

// New returns a pass over the control plane.
func New(tools *Tools, cp *c5c3v1alpha1.ControlPlane) *Pass {
	return &Pass{
		Tools: tools, Slots: &reconcile.Slots{}, CP: cp, NamespacedName: client.ObjectKeyFromObject(cp),
		Now: func() time.Time { return tools.Now(cp.Namespace) },
	}
}

// Key returns the key of an object in the namespace of the control plane.
func Key(s *Pass, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.NamespacedName.Namespace, Name: name}
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
