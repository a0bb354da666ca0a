package running

import (
	"context"
	"sync"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// passes records the state at the beginning of the operator's passes.
type passes struct {
	mu         sync.Mutex
	cache      client.Reader
	reconciler reconcile.Reconciler
	ended      int
	// trigger is [Program.Trigger].
	trigger func(resource client.ObjectKey) client.Object
	// began maps a resource to the version of its trigger in the cache when its last
	// finished pass began.
	began map[client.ObjectKey]string
}

func newPasses(trigger func(client.ObjectKey) client.Object) *passes {
	return &passes{trigger: trigger, began: map[client.ObjectKey]string{}}
}

func (p *passes) around(mgr ctrl.Manager, reconciler reconcile.Reconciler) reconcile.Reconciler {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache, p.reconciler = mgr.GetCache(), reconciler
	return reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		trigger := p.trigger(request.NamespacedName)
		err := mgr.GetCache().Get(ctx, client.ObjectKeyFromObject(trigger), trigger)
		if client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, err
		}
		result, err := reconciler.Reconcile(ctx, request)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended++
		p.began[request.NamespacedName] = trigger.GetResourceVersion()
		return result, err
	})
}
