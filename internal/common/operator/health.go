package operator

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// syncProbe is how long one readiness request waits for the caches; it is
// shorter than the timeout of a kubelet's probe.
const syncProbe = 500 * time.Millisecond

// addHealthChecks makes /healthz report that the process answers and /readyz that
// it can do its work.
func addHealthChecks(mgr ctrl.Manager, caches *cacheCheck) error {
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	return mgr.AddReadyzCheck("caches", caches.check)
}

// untilPassed repeats the check only until it has passed. That of the webhook server makes a
// TLS connection each time, and the operator ends when the server does.
func untilPassed(check healthz.Checker) healthz.Checker {
	var passed atomic.Bool
	return func(request *http.Request) error {
		if passed.Load() {
			return nil
		}
		err := check(request)
		passed.Store(err == nil)
		return err
	}
}

// cacheCheck passes once all caches that exist at start-up are synced, and from
// then on: a watch that is added later, for an API that has just been
// installed, does not make a working operator unready.
type cacheCheck struct {
	cache cache.Cache
	// warming is set when controllers start their watches; before that, a cache
	// without any watch would count as synced.
	warming, synced atomic.Bool
}

// Warmup is called by the manager together with the warm-up of controllers, on
// every replica.
func (c *cacheCheck) Warmup(context.Context) error {
	c.warming.Store(true)
	return nil
}

// Start makes the check a Runnable; it has nothing to do.
func (c *cacheCheck) Start(context.Context) error { return nil }

// NeedLeaderElection is false because readiness does not depend on leading.
func (c *cacheCheck) NeedLeaderElection() bool { return false }

func (c *cacheCheck) check(request *http.Request) error {
	if c.synced.Load() {
		return nil
	}
	if !c.warming.Load() {
		return errors.New("the caches are not started yet")
	}
	ctx, cancel := context.WithTimeout(request.Context(), syncProbe)
	defer cancel()
	if !c.cache.WaitForCacheSync(ctx) {
		return errors.New("the caches are not filled yet: are all watched APIs installed and readable?")
	}
	c.synced.Store(true)
	return nil
}
