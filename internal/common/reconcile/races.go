package reconcile

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

const (
	// raceRetry is when a pass that lost a race is repeated; it gives the cache a
	// moment to show what the winner wrote.
	raceRetry = 100 * time.Millisecond
	// raceRetryMax bounds the delay of a pass that loses every time.
	raceRetryMax = 30 * time.Second
)

// Races delays the passes of a resource that lose one race after the other: with
// a second writer that does not give in they would keep the API server busy. The
// zero value is ready for use, also by several goroutines.
type Races struct {
	once   sync.Once
	delays workqueue.TypedRateLimiter[types.NamespacedName]
}

func (r *Races) limiter() workqueue.TypedRateLimiter[types.NamespacedName] {
	r.once.Do(func() {
		r.delays = workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](raceRetry, raceRetryMax)
	})
	return r.delays
}

// Lost returns when to repeat a pass that lost a race.
func (r *Races) Lost(name types.NamespacedName) time.Duration { return r.limiter().When(name) }

// Over starts again with the shortest delay.
func (r *Races) Over(name types.NamespacedName) { r.limiter().Forget(name) }
