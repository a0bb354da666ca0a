// Package standin simulates the controllers that a test API server lacks: those of
// kube-controller-manager for Deployments and Jobs, mariadb-operator and External Secrets.
// Each of them watches its objects and immediately does what the real controller does on
// success. On request it fails in the ways that users encounter.
package standin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Standin is a controller that [Run] can start.
type Standin interface {
	setup(mgr manager.Manager) error
}

// Start is [Run] until the returned function is called or the test ends.
func Start(t testing.TB, cfg *rest.Config, standins ...Standin) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(cancel)
	if err := Run(ctx, cfg, standins...); err != nil {
		t.Fatal(err)
	}
	return cancel
}

// Run starts the stand-ins and returns when they have seen the existing objects. They
// stop when ctx ends. The kinds they act on have to be served already.
func Run(ctx context.Context, cfg *rest.Config, standins ...Standin) error {
	mgr, err := manager.New(cfg, manager.Options{
		Scheme:                 scheme.Scheme,
		Logger:                 logr.Discard(),
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller:             config.Controller{SkipNameValidation: ptr.To(true)},
		// Most kinds are read without their Go types.
		Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
	})
	if err != nil {
		return fmt.Errorf("create the manager of the stand-ins: %w", err)
	}
	for _, s := range standins {
		if err := s.setup(mgr); err != nil {
			return err
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	select {
	case <-mgr.Elected():
	case err := <-ended:
		return errors.Join(errors.New("the stand-ins ended before they ran"), err)
	}
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return fmt.Errorf("the stand-ins have not seen what exists: %w", ctx.Err())
	}
	return nil
}

// Outcome determines what a stand-in does with an object.
type Outcome struct {
	kind     outcomeKind
	message  string
	exitCode int32
	// finding is the termination message of init containers.
	finding string
}

// Finds gives the init containers of a pod a termination message.
func (o Outcome) Finds(message string) Outcome {
	o.finding = message
	return o
}

type outcomeKind int

const (
	succeed outcomeKind = iota
	fail
	hang
	noImage
	refuse
	retry
	exit
)

// Succeed is the outcome of objects for which nothing else was set.
func Succeed() Outcome { return Outcome{kind: succeed} }

// Fail reports a permanent failure with the message. A container ends with
// exit code 1.
func Fail(message string) Outcome { return FailWith(1, message) }

// FailWith is Fail with a different exit code of the container.
func FailWith(exitCode int32, message string) Outcome {
	return Outcome{kind: fail, message: message, exitCode: exitCode}
}

// Hang leaves the object as it is from now on, finalizers included. A Job is
// started and then stays active.
func Hang() Outcome { return Outcome{kind: hang} }

// NoImage starts a Pod that cannot pull its image, for Deployments and Jobs.
func NoImage(message string) Outcome { return Outcome{kind: noImage, message: message} }

// Refuse makes the API server refuse the Pods of a Deployment or Job with the
// message. As with the real controllers there are no Pods then, and the Deployment's
// conditions or the Job's events report it.
func Refuse(message string) Outcome { return Outcome{kind: refuse, message: message} }

// Retry makes the container of a Job's Pod fail with the message again and again.
func Retry(message string) Outcome { return Outcome{kind: retry, message: message, exitCode: 1} }

// Exit makes the container of a Job's Pod exit successfully, before the phase of
// the Pod or the Job shows it.
func Exit() Outcome { return Outcome{kind: exit} }

// script holds the outcomes that a test has set for single objects.
type script struct {
	mu       sync.Mutex
	outcomes map[client.ObjectKey]Outcome
	changed  chan event.GenericEvent
}

func newScript() *script {
	return &script{
		outcomes: map[client.ObjectKey]Outcome{},
		// Large enough for everything that is set before the stand-in runs.
		changed: make(chan event.GenericEvent, 64),
	}
}

func (s *script) set(namespace, name string, o Outcome) {
	s.mu.Lock()
	s.outcomes[client.ObjectKey{Namespace: namespace, Name: name}] = o
	s.mu.Unlock()
	s.changed <- event.GenericEvent{Object: &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}}
}

func (s *script) outcome(obj client.Object) Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outcomes[client.ObjectKeyFromObject(obj)]
}

// retries never wait long: often a dependency of an object does not exist yet, and
// on a slow machine that takes a while.
func retries() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, time.Second)
}

// watch calls act for each object of the kind of empty when the object, its
// outcome, or an object that it owns of the kinds in owned changes.
func watch[T client.Object](
	mgr manager.Manager, name string, empty func() T, s *script,
	act func(ctx context.Context, c client.Client, obj T) error, owned ...client.Object,
) error {
	c := mgr.GetClient()
	b := builder.ControllerManagedBy(mgr).Named(name).For(empty()).WithOptions(controller.Options{RateLimiter: retries()}).
		WatchesRawSource(source.Channel(s.changed, &handler.EnqueueRequestForObject{}))
	for _, kind := range owned {
		b = b.Owns(kind)
	}
	err := b.Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		obj := empty()
		if err := c.Get(ctx, req.NamespacedName, obj); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		return reconcile.Result{}, act(ctx, c, obj)
	}))
	if err != nil {
		return fmt.Errorf("set up the stand-in %s: %w", name, err)
	}
	return nil
}
