package controller

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/kube"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Hibernation declares how the resources of type R hibernate, with tools of type T.
type Hibernation[R, T any] struct {
	// Wanted and Busy are those of [reconcile.Hibernation].
	Wanted func(R) bool
	Busy   func(R) string
	// Stops are the objects that are stopped, in order: one that still runs keeps those after it
	// running.
	Stops []reconcile.Stoppable
	// Running returns what else of the resource still runs, "" for nothing. It may be nil.
	Running func(context.Context, T, R) (string, error)
	// WakesToGo makes the deletion of a resource start its objects again.
	WakesToGo bool
}

// hibernation returns what the reconciler needs, nil for a kind that cannot hibernate.
func (c Controller[R, T, S]) hibernation(in kube.Access, tools T) *reconcile.Hibernation[R] {
	if c.Hibernation == nil {
		return nil
	}
	made := &reconcile.Hibernation[R]{
		Wanted: c.Hibernation.Wanted, Busy: c.Hibernation.Busy,
		Stop: func(ctx context.Context, resource R) (string, []string, error) {
			return c.stop(ctx, in, tools, resource)
		},
	}
	if c.Hibernation.WakesToGo {
		made.Wake = func(ctx context.Context, resource R) error { return c.start(ctx, in, resource) }
	}
	return made
}

// stop stops what the resource runs, and returns what still does, and remarks on what cannot be
// stopped.
func (c Controller[R, T, S]) stop(ctx context.Context, in kube.Access, tools T, resource R) (running string, remarks []string, err error) {
	if err := c.suspendCronJobs(ctx, in, resource); err != nil {
		return "", nil, err
	}
	err = c.eachStopped(ctx, in, resource, func(kind reconcile.Stoppable, child client.Object) error {
		switch {
		case running != "":
			return nil
		case kind.Unstoppable != nil && kind.Unstoppable(child) != "":
			remarks = append(remarks, kind.Unstoppable(child))
			return nil
		case kind.IsStopped(child):
			if kind.Running != nil {
				running = kind.Running(child)
			}
			return nil
		}
		if kind.After != nil {
			if running, err = kind.After(ctx, in.Client, resource); running != "" || err != nil {
				return err
			}
		}
		name := reflect.TypeOf(child).Elem().Name() + " " + child.GetName()
		err := apply.Fields(ctx, in.ThirdParty, child, map[string]any{
			"metadata": map[string]any{"annotations": map[string]string{vocabulary.AnnotationHibernated: "true"}}, "spec": kind.Spec,
		}, vocabulary.HibernationManager)
		if kind.MayRefuse && apierrors.IsInvalid(err) {
			remarks = append(remarks, fmt.Sprintf("%s stays up: %v", name, err))
			return nil
		}
		running = name + " stops"
		return err
	})
	if err != nil || running != "" || c.Hibernation.Running == nil {
		return running, remarks, err
	}
	running, err = c.Hibernation.Running(ctx, tools, resource)
	return running, remarks, err
}

// start starts what stop has stopped, also what is paused with the resource. An object that
// cannot be started does not keep others from it.
func (c Controller[R, T, S]) start(ctx context.Context, in kube.Access, resource R) error {
	var failures []error
	err := c.eachStopped(ctx, in, resource, func(_ reconcile.Stoppable, child client.Object) error {
		if child.GetAnnotations()[vocabulary.AnnotationHibernated] == "" {
			return nil
		}
		failures = append(failures, c.resumeChild(ctx, in, child),
			apply.Fields(ctx, in.ThirdParty, child, nil, vocabulary.HibernationManager))
		return nil
	})
	return errors.Join(append(failures, err)...)
}

// eachStopped calls do for each object that stops with the resource, in order.
func (c Controller[R, T, S]) eachStopped(
	ctx context.Context, in kube.Access, resource R, do func(reconcile.Stoppable, client.Object) error,
) error {
	for _, kind := range c.Hibernation.Stops {
		same := func(empty client.Object) bool { return reflect.TypeOf(empty) == reflect.TypeOf(kind.Object) }
		err := c.each(ctx, in, resource, same, func(child client.Object) error { return do(kind, child) })
		if err != nil {
			return err
		}
	}
	return nil
}
