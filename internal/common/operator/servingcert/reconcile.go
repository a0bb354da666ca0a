package servingcert

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Reconcile brings Secret, webhook configurations and the served certificate
// in line. Any event triggers the same pass, so the request is ignored.
func (r *Rotator) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	pair, err := r.ensureIssued(ctx)
	if err != nil || pair == nil {
		return reconcile.Result{}, err
	}
	if trusted, err := r.publish(ctx, pair); err != nil || !trusted {
		return reconcile.Result{}, err
	}
	if wait := r.serveWhenSettled(ctx, pair); wait > 0 {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return reconcile.Result{RequeueAfter: max(pair.renewAt(r.options.Validity).Sub(r.now()), time.Second)}, nil
}

// serveWhenSettled starts serving a trusted certificate, at once if none is
// served or the served one has expired, otherwise after the settle time, whose
// remainder it returns.
func (r *Rotator) serveWhenSettled(ctx context.Context, pair *keyPair) time.Duration {
	current := r.served.Load()
	if pair.same(current) {
		r.next = nil
		return 0
	}
	now := r.now()
	if !pair.same(r.next) {
		r.next, r.trustedAt = pair, now
	}
	if wait := r.options.Settle - now.Sub(r.trustedAt); wait > 0 && current != nil && now.Before(current.notAfter) {
		return wait
	}
	r.served.Store(pair)
	r.next = nil
	log.FromContext(ctx).Info("serving webhook certificate", "notAfter", pair.notAfter)
	return 0
}
