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

	"github.com/c5c3/forge/internal/common/metric"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
)

// Controller declares the controller of a service with resources of type R, and tools of
// type T in the scope of its passes.
type Controller[R service.Resource, T any] struct {
	// Definition describes the service.
	Definition *service.Definition
	// New returns an empty resource, NewList an empty list of them.
	New     func() R
	NewList func() client.ObjectList
	// AddToScheme registers the service's own kinds.
	AddToScheme func(*runtime.Scheme) error

	// Guard applies the defaults and validates the resource, for installations without
	// webhooks.
	Guard func(R) error
	// Outdated describes values that an earlier version accepted, as in
	// [reconcile.Reconciler]. It may be nil.
	Outdated func(R) string
	// Own are the tools that only this operator has.
	Own T
	// Pipeline lists the steps, Finalizers the stages of deletion.
	Pipeline   reconcile.Pipeline[*service.Scope[R, T]]
	Finalizers []reconcile.Finalizer[*service.Scope[R, T]]
	// Forget drops in-memory state about a deleted resource. It may be nil.
	Forget func(types.NamespacedName)

	// SecretRefs returns the names of the Secrets that a pass reads in addition to those
	// in [commonv1.ServiceSpec] and [commonv1.ServiceUser]. It may be nil.
	SecretRefs func(R) []string
	// Kinds are the kinds that this controller watches in addition to the common ones.
	Kinds []Kind[R]
	// Runnables run as long as the operator, and Sources trigger passes, in addition to
	// the common ones.
	Runnables []manager.Runnable
	Sources   []source.Source

	// Metrics name the metrics that all services have.
	Metrics metric.Names
}

// Scheme registers every type that the controller reads or writes.
func (c Controller[R, T]) Scheme() *runtime.Scheme {
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

// kinds returns every watched kind except the resource itself.
func (c Controller[R, T]) kinds() []Kind[R] {
	return slices.Concat(common[R](), peers[R](c.Definition.Kind), c.Kinds)
}

// preflight skips a resource whose database belongs to another one: both would change the
// same tables.
func (c Controller[R, T]) preflight(tools *service.Tools) func(context.Context, R) (reconcile.Refusal, error) {
	return func(ctx context.Context, resource R) (reconcile.Refusal, error) {
		return refuseSharer(ctx, service.NewPass(tools, c.Definition, resource))
	}
}
