package running

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
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
	// began maps a resource to the version of its connection Secret in the cache when its
	// last finished pass began.
	began map[client.ObjectKey]string
}

func newPasses() *passes { return &passes{began: map[client.ObjectKey]string{}} }

func (p *passes) around(mgr ctrl.Manager, reconciler reconcile.Reconciler) reconcile.Reconciler {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache, p.reconciler = mgr.GetCache(), reconciler
	return reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		connection := &corev1.Secret{}
		key := client.ObjectKey{Namespace: request.Namespace, Name: request.Name + "-db-connection"}
		if err := client.IgnoreNotFound(mgr.GetCache().Get(ctx, key, connection)); err != nil {
			return ctrl.Result{}, err
		}
		result, err := reconciler.Reconcile(ctx, request)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended++
		p.began[request.NamespacedName] = connection.ResourceVersion
		return result, err
	})
}
