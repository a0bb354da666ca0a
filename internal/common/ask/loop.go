package ask

import (
	"context"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// Loop works on resources in the background, one task per resource at a time,
// and notifies a controller of new findings.
type Loop struct {
	workers int
	queue   workqueue.TypedDelayingInterface[types.NamespacedName]
	changes chan event.GenericEvent
}

// NewLoop returns a Loop that works on up to the given number of resources concurrently.
func NewLoop(workers int) Loop {
	return Loop{
		workers: workers,
		queue:   workqueue.NewTypedDelayingQueue[types.NamespacedName](),
		changes: make(chan event.GenericEvent),
	}
}

// Source delivers a request for a resource whenever there is a new finding about it.
func (l Loop) Source() source.TypedSource[reconcile.Request] {
	return source.Channel(l.changes, &handler.EnqueueRequestForObject{})
}

// News delivers what Tell announces, for users without a controller.
func (l Loop) News() <-chan event.GenericEvent { return l.changes }

// NeedLeaderElection is true: only the leader reads the findings, and logins by
// two replicas would count twice.
func (l Loop) NeedLeaderElection() bool { return true }

// Schedule has a resource worked on after the delay.
func (l Loop) Schedule(name types.NamespacedName, delay time.Duration) { l.queue.AddAfter(name, delay) }

// Run calls do for every resource that is due, until ctx ends.
func (l Loop) Run(ctx context.Context, do func(context.Context, types.NamespacedName)) {
	var group sync.WaitGroup
	for range l.workers {
		group.Go(func() { l.work(ctx, do) })
	}
	<-ctx.Done()
	l.queue.ShutDown()
	group.Wait()
}

func (l Loop) work(ctx context.Context, do func(context.Context, types.NamespacedName)) {
	for {
		name, shutdown := l.queue.Get()
		if shutdown {
			return
		}
		do(ctx, name)
		l.queue.Done(name)
	}
}

// Tell announces a new finding about a resource. It reports whether the announcement was
// received before ctx ended.
func (l Loop) Tell(ctx context.Context, name types.NamespacedName) bool {
	changed := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name.Name, Namespace: name.Namespace}}
	select {
	case l.changes <- event.GenericEvent{Object: changed}:
		return true
	case <-ctx.Done():
		return false
	}
}
