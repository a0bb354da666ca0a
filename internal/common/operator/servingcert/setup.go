package servingcert

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// controllerName shows in logs and in the metrics of controller-runtime.
const controllerName = "webhook-certificate"

// Add registers a rotator with the manager and returns it, so that its
// certificate can be served and its readiness be checked. It runs on every
// replica, leader or not.
//
// It lists and watches by name only: get, list, watch and update on the Secret
// and the two webhook configurations can be granted by resourceNames. In addition
// it creates the Secret and reads the Service.
func Add(mgr ctrl.Manager, options Options) (*Rotator, error) {
	// A separate connection makes the rotator independent of what the
	// manager's cache selects and of the types in its scheme.
	own, err := cluster.New(mgr.GetConfig(), func(o *cluster.Options) {
		o.Scheme = clientgoscheme.Scheme
		o.Cache.ByObject = options.selection()
		o.Logger = mgr.GetLogger()
	})
	if err != nil {
		return nil, fmt.Errorf("set up webhook certificate rotation: %w", err)
	}
	if err := mgr.Add(own); err != nil {
		return nil, fmt.Errorf("set up webhook certificate rotation: %w", err)
	}
	rotator := &Rotator{options: options, client: own.GetClient(), live: own.GetAPIReader(), now: time.Now}
	if err := rotator.watch(mgr, own.GetCache()); err != nil {
		return nil, fmt.Errorf("set up webhook certificate rotation: %w", err)
	}
	return rotator, nil
}

// watch starts a pass at start-up and whenever one of the objects changes.
func (r *Rotator) watch(mgr ctrl.Manager, objects cache.Cache) error {
	c, err := controller.New(controllerName, mgr, controller.Options{
		Reconciler:         r,
		NeedLeaderElection: ptr.To(false),
		// State between passes is kept without locks.
		MaxConcurrentReconciles: 1,
	})
	if err != nil {
		return err
	}
	pass := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: r.options.Namespace, Name: r.options.SecretName}}
	enqueue := func(context.Context, client.Object) []reconcile.Request { return []reconcile.Request{pass} }
	sources := []source.Source{
		source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			queue.Add(pass)
			return nil
		}),
	}
	for _, object := range append(r.configurations(), &corev1.Secret{}) {
		sources = append(sources, source.Kind(objects, object, handler.EnqueueRequestsFromMapFunc(enqueue)))
	}
	for _, s := range sources {
		if err := c.Watch(s); err != nil {
			return err
		}
	}
	return nil
}
