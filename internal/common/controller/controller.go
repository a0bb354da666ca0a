// Package controller sets up the controller of an API service from its declaration: the
// kinds that it watches and how, its pipeline, and the few things that only its service
// has. What every service has is added automatically.
package controller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
)

// Controller declares the controller of a service whose resources are of type R. A pass
// of its pipeline has a scope of type S.
type Controller[R service.Resource, S service.Scope] struct {
	// Definition describes the service.
	Definition *service.Definition
	// New returns an empty resource, and NewList an empty list of them.
	New     func() R
	NewList func() client.ObjectList
	// AddToScheme registers the service's own kinds.
	AddToScheme func(*runtime.Scheme) error

	// Guard applies the defaults and validates, for installations without webhooks.
	Guard func(R) error
	// Scope builds what the steps of a pass share.
	Scope func(*service.Pass, R) S
	// Pipeline are the steps, and Finalizers the stages of deletion.
	Pipeline   reconcile.Pipeline[S]
	Finalizers []reconcile.Finalizer[S]
	// Forget drops what the service keeps in memory of a resource that is gone. It may
	// be nil.
	Forget func(types.NamespacedName)

	// SecretRefs are the names of the Secrets that a pass reads beside those of
	// [commonv1.ServiceSpec]. It may be nil.
	SecretRefs func(R) []string
	// Kinds are the kinds that the controller watches beside those of every service.
	Kinds []Kind[R]
	// Runnables run as long as the operator, and Sources ask for passes, beside those
	// of every service.
	Runnables []manager.Runnable
	Sources   []source.Source

	// Metrics are those of the operator that every service has.
	Metrics Metrics
}

// Scheme knows every type that the controller reads or writes.
func (c Controller[R, S]) Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(c.AddToScheme(scheme))
	for _, kind := range c.kinds() {
		if kind.AddToScheme != nil {
			utilruntime.Must(kind.AddToScheme(scheme))
		}
	}
	return scheme
}

// kinds are all kinds that the controller watches beside its own.
func (c Controller[R, S]) kinds() []Kind[R] { return slices.Concat(common[R](), c.Kinds) }

// preflight leaves a resource alone whose database an older one has: both would change
// the same tables.
func (c Controller[R, S]) preflight(tools *service.Tools) func(context.Context, R) (reconcile.Outcome, bool) {
	return func(ctx context.Context, resource R) (reconcile.Outcome, bool) {
		return refuseSharer(ctx, service.NewPass(tools, c.Definition, resource))
	}
}
