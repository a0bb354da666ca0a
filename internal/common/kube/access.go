// Package kube has what the passes of every controller need to work with the API server.
package kube

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/secrets"
)

// Kinds reports which kinds the API server serves.
type Kinds interface {
	Served(kind schema.GroupVersionKind) bool
}

// Access is the access of an operator to its cluster.
type Access struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// ThirdParty is the client for the kinds of other projects, and Kinds reports which of
	// them are installed.
	ThirdParty client.Client
	Kinds      Kinds
	// APIReader reads from the API server, bypassing the cache.
	APIReader client.Reader
	Scheme    *runtime.Scheme
	// Refs reads the Secrets and ConfigMaps that resources refer to.
	Refs client.Reader
	// Owned writes the operator's own Secrets.
	Owned secrets.Owned
	// Cluster are the settings of the cluster.
	Cluster cluster.Settings
	// Clock returns the current time; nil means time.Now.
	Clock func() time.Time
}

// Now returns the current time according to Clock.
func (a *Access) Now() time.Time {
	if a.Clock == nil {
		return time.Now()
	}
	return a.Clock()
}
