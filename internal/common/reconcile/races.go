package reconcile

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

const (
	// raceRetry is the delay before a pass that lost a race is repeated; it gives the
	// cache a moment to show the winner's write.
	raceRetry = 100 * time.Millisecond
	// raceRetryMax bounds the delay for a resource that keeps losing.
	raceRetryMax = 30 * time.Second
)

// Races delays the passes of a resource that loses one race after another: with
// a second writer that does not give in, retries would keep the API server busy. The
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

// Lost returns the delay before a pass that lost a race is repeated.
func (r *Races) Lost(name types.NamespacedName) time.Duration { return r.limiter().When(name) }

// Over resets the delay to the shortest one.
func (r *Races) Over(name types.NamespacedName) { r.limiter().Forget(name) }
