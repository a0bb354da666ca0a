package conformance

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/testutil/crashwalk"
	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/objects"
	"github.com/c5c3/forge/internal/common/testutil/running"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// Trial is a kind in a world.
type Trial[T reconcile.Object] struct {
	Kind[T]
	*World
}

// options replaces what an operator asks outside the API server.
func (s Trial[T]) options(api *running.API) controller.Options {
	if s.probe == nil {
		return controller.Options{}
	}
	return controller.Options{Probe: s.probe(api)}
}

// prepared creates a namespace with an operator and the inputs. The resource is not created.
func (s Trial[T]) prepared(t *testing.T) *object[T] {
	t.Helper()
	namespace := s.Env.Namespace(t)
	objects.Create(t, s.Admin, s.Inputs(namespace)...)
	o := &object[T]{T: t, trial: s, Resource: s.New(namespace)}
	o.start()
	if s.Prepared != nil {
		expect.Eventually(t, "inputs that the operator is done with", func(ctx context.Context) error { return s.Prepared(ctx, namespace) })
	}
	return o
}

// converged returns a converged object.
func (s Trial[T]) converged(t *testing.T) *object[T] {
	t.Helper()
	o := s.prepared(t)
	o.Create()
	o.Ready()
	return o
}

// readyNow returns nil if every condition is True for the current spec.
func (s Trial[T]) readyNow(resource T) error {
	for _, condition := range s.positive() {
		found := meta.FindStatusCondition(resource.GetConditions(), condition.Type)
		switch {
		case found == nil:
			return fmt.Errorf("there is no condition %s", condition.Type)
		case found.Status != metav1.ConditionTrue:
			return fmt.Errorf("%s is %s/%s: %s", found.Type, found.Status, found.Reason, found.Message)
		case found.ObservedGeneration != resource.GetGeneration():
			return fmt.Errorf("%s is about generation %d of %d", found.Type, found.ObservedGeneration, resource.GetGeneration())
		}
	}
	return nil
}

// Converged returns nil if the resource in the namespace has converged.
func (s Trial[T]) Converged(ctx context.Context, namespace string) error {
	resource := s.New(namespace)
	if err := s.Admin.Get(ctx, client.ObjectKeyFromObject(resource), resource); err != nil {
		return err
	}
	if err := s.readyNow(resource); err != nil || s.Settled == nil {
		return err
	}
	return s.Settled(ctx, namespace)
}

// Operate runs an operator until ctx ends.
func (s Trial[T]) Operate(ctx context.Context, cfg *rest.Config, namespace string) error {
	return s.Program.Run(ctx, cfg, namespace, s.options(&running.API{}))
}

// until runs an operator until the check returns nil.
func (s Trial[T]) until(ctx context.Context, namespace string, check func(context.Context, string) error) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Operate(running, s.AsOperator, namespace) }()
	err := expect.Until(ctx, func(ctx context.Context) error { return check(ctx, namespace) })
	stop()
	return errors.Join(err, <-ended)
}

// Newcomer creates a namespace with a resource that no operator has reconciled yet.
func (s Trial[T]) Newcomer(ctx context.Context) (namespace string, err error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "walk-"}}
	if err := s.Admin.Create(ctx, ns); err != nil {
		return "", err
	}
	for _, obj := range s.Inputs(ns.Name) {
		if err := s.Admin.Create(ctx, obj); err != nil {
			return "", err
		}
	}
	if s.Prepared != nil {
		if err := s.until(ctx, ns.Name, s.Prepared); err != nil {
			return "", err
		}
	}
	return ns.Name, s.create(ctx, s.New(ns.Name))
}

// create creates the resource with its remains.
func (s Trial[T]) create(ctx context.Context, resource T) error {
	if err := s.Admin.Create(ctx, resource); err != nil || s.Remains == nil {
		return err
	}
	for _, obj := range s.Remains(resource) {
		if err := s.Admin.Create(ctx, obj); err != nil {
			return err
		}
	}
	return nil
}

// Changed creates a namespace with a resource that has converged, and changes it while no
// operator is running.
func (s Trial[T]) Changed(ctx context.Context, change func(ctx context.Context, namespace string) error) (namespace string, err error) {
	namespace, err = s.Newcomer(ctx)
	if err != nil {
		return "", err
	}
	if err := s.until(ctx, namespace, s.Converged); err != nil {
		return "", err
	}
	return namespace, change(ctx, namespace)
}

// Way is the walk of a new resource until it has converged, with failing writes.
func (s Trial[T]) Way(failures ...transport.Mode) crashwalk.Scenario[any] {
	return crashwalk.Scenario[any]{
		Config: s.AsOperator, Modes: failures, Writes: s.Writes, Long: s.Long,
		Prepare: s.Newcomer, Operator: s.Operate, Settled: s.Converged, Observe: s.Observe, Compare: s.compare,
	}
}

func (s Trial[T]) compare(undisturbed, failed, final any) string {
	if s.Compare != nil {
		return s.Compare(undisturbed, failed, final)
	}
	if diff := cmp.Diff(undisturbed, final); diff != "" {
		return "the final state (-undisturbed +got):\n" + diff
	}
	return ""
}

// Deletion is the walk through the deletion of a resource.
func (s Trial[T]) Deletion() crashwalk.Scenario[any] {
	return crashwalk.Scenario[any]{
		Config: s.AsOperator, Writes: s.DeletionWrites, Long: s.Long, Operator: s.Operate,
		Prepare: func(ctx context.Context) (string, error) {
			return s.Changed(ctx, func(ctx context.Context, namespace string) error { return s.Admin.Delete(ctx, s.New(namespace)) })
		},
		Settled: func(ctx context.Context, namespace string) error {
			resource := s.New(namespace)
			err := s.Admin.Get(ctx, client.ObjectKeyFromObject(resource), resource)
			if apierrors.IsNotFound(err) {
				return s.Gone(ctx, namespace)
			}
			return errors.Join(errors.New("the resource is still there"), err)
		},
		Observe: s.Left,
		Compare: func(undisturbed, _, final any) string { return cmp.Diff(undisturbed, final) },
	}
}
