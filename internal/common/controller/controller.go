// Package controller sets up the controller of a kind from its declaration: the resources
// that it reconciles, the kinds that it watches, its pipeline, and what works in the
// background. Everything else follows from that: the scheme, the field indexes, the watches,
// what the cache keeps of each kind, and which permissions are needed.
package controller

import (
	"context"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
)

// Controller declares the controller of the resources of type R. Its passes have a state of
// type S, which is made from the resource and from tools of type T. The controllers of an
// operator may share their tools.
type Controller[R reconcile.Object, T, S any] struct {
	// For is an empty resource, List an empty list of them. The kind is the name of the Go
	// type; the controller, its events and its log are named after it.
	For  R
	List client.ObjectList
	// AddToScheme registers the kind.
	AddToScheme func(*runtime.Scheme) error

	// Kinds are the kinds that the controller watches beside its own.
	Kinds []Kind
	// FieldManager is the field manager of the objects that the controller applies.
	FieldManager string
	// Indexes are the fields by which resources are found. Each function returns the values
	// of a resource.
	Indexes map[string]func(R) []string
	// Secrets and ConfigMaps select the resources to reconcile when a Secret or a ConfigMap
	// changes that somebody else may have written. Only the metadata of those is watched. Nil
	// stands for none.
	Secrets, ConfigMaps Relation
	// Trim drops from an object what no pass reads, before it enters the cache. It may be nil.
	Trim func(client.Object)

	// Guard and Outdated are those of [reconcile.Reconciler], and so is Summarise.
	Guard    func(R) error
	Outdated func(R) string
	// Preflight returns why a resource must not be reconciled, as in [reconcile.Reconciler].
	// It may be nil.
	Preflight func(context.Context, T, R) (reconcile.Refusal, error)
	// Scope returns the state of a pass over the resource.
	Scope func(T, R) S
	// Pipeline lists the steps, Finalizers the stages of deletion.
	Pipeline   reconcile.Pipeline[S]
	Finalizers []reconcile.Finalizer[S]
	Summarise  func(R)

	// Hibernation declares how the resources hibernate, nil for those that cannot.
	Hibernation *Hibernation[R, T]

	// Background returns what works on resources outside of their passes. It may be nil.
	Background func(T) []Background
	// Forget drops other in-memory state about a deleted resource. It may be nil.
	Forget func(T, types.NamespacedName)
	// Gauges are the metrics of a resource in addition to its conditions.
	Gauges []reconcile.Gauge[R]
}

// Background works on resources outside of their passes.
type Background interface {
	manager.Runnable
	// Source triggers a pass over a resource when there is something new about it.
	Source() source.TypedSource[ctrlreconcile.Request]
	// Forget drops what is known about a deleted resource.
	Forget(types.NamespacedName)
}

// Outline describes the controller for the documentation.
func (c Controller[R, T, S]) Outline() reconcile.Outline {
	return reconcile.NewOutline(c.kind(), c.Pipeline, c.Finalizers)
}

// kind is the kind of the resources, such as "ControlPlane".
func (c Controller[R, T, S]) kind() string { return reflect.TypeFor[R]().Elem().Name() }

// name is the name of the controller, such as "controlplane".
func (c Controller[R, T, S]) name() string { return strings.ToLower(c.kind()) }

// Maker returns a function that makes objects like the given one, which is empty.
func Maker[O runtime.Object](empty O) func() O {
	return func() O { return apply.Copy(empty) }
}
