// Package rollout limits how many Deployments roll out at the same time when a new version
// of the operator changes the pods of all of them.
package rollout

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/ask"
)

const (
	// Limit is the number of Deployments that change their pods at the same time.
	Limit = 5
	// Patience is how long a rollout that does not end keeps others waiting. It is the
	// default progress deadline of a Deployment.
	Patience = 10 * time.Minute
)

// State is what a pass sees of a Deployment before it writes to it.
type State struct {
	// Exists is whether there is one.
	Exists bool
	// Settled is whether no rollout or upgrade is in progress, all pods are available, and
	// the user has changed nothing.
	Settled bool
	// Differs is whether the operator would change the Deployment.
	Differs bool
	// Wanted identifies the Deployment that the operator builds. Another one while it waits
	// is a change by the user.
	Wanted string
}

// Turns decides which Deployments may change. It only concerns those that this process
// has not yet seen as it builds them: what a user changes later takes effect at once. It is
// a manager runnable.
type Turns struct {
	ask.Loop

	clock func() time.Time

	mu sync.Mutex
	// current are the resources whose Deployment this process has seen as it builds it.
	current map[types.NamespacedName]bool
	// rolling holds since when the Deployment of a resource has been changing.
	rolling map[types.NamespacedName]time.Time
	// waiting are the resources whose turn comes later, in order, and wanted is what they
	// wait for.
	waiting []types.NamespacedName
	wanted  map[types.NamespacedName]string
}

// NewTurns returns Turns in which no Deployment has been seen. A nil clock means time.Now.
func NewTurns(clock func() time.Time) *Turns {
	if clock == nil {
		clock = time.Now
	}
	return &Turns{
		Loop: ask.NewLoop(1), clock: clock,
		current: map[types.NamespacedName]bool{}, rolling: map[types.NamespacedName]time.Time{},
		wanted: map[types.NamespacedName]string{},
	}
}

// Start triggers a pass of each resource whose turn it is, until ctx ends.
func (t *Turns) Start(ctx context.Context) error {
	t.Run(ctx, func(ctx context.Context, name types.NamespacedName) {
		t.expire()
		t.Tell(ctx, name)
	})
	return nil
}

// IsCurrent reports whether the Deployment of the resource needs no turn any more.
func (t *Turns) IsCurrent(name types.NamespacedName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current[name]
}

// Take reports whether the Deployment of the resource may change now. If it may not, a
// pass is triggered when it may. A pass now and then has to ask again: the one that is
// triggered may end before it asks.
func (t *Turns) Take(name types.NamespacedName, state State) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, rolling := t.rolling[name]
	first, known := t.wanted[name]
	switch {
	case t.current[name]:
	case !state.Exists, state.Settled && !state.Differs:
		t.current[name] = true
		t.leave(name)
	case state.Settled && !rolling && len(t.rolling) >= Limit && (!known || first == state.Wanted):
		t.wanted[name] = state.Wanted
		if !slices.Contains(t.waiting, name) {
			t.waiting = append(t.waiting, name)
		}
		return false
	default:
		// Also one that is not settled: the operator before this one may have begun to
		// change it, and its pods may need the change to become available.
		t.enter(name)
	}
	return true
}

// Forget drops a deleted resource.
func (t *Turns) Forget(name types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.current, name)
	t.leave(name)
}

// enter notes that a Deployment changes, and looks at it again when others have waited for
// it long enough.
func (t *Turns) enter(name types.NamespacedName) {
	t.drop(name)
	if _, known := t.rolling[name]; !known {
		t.rolling[name] = t.clock()
		t.Schedule(name, Patience)
	}
}

// leave notes that a Deployment no longer changes, and triggers the next ones.
func (t *Turns) leave(name types.NamespacedName) {
	delete(t.rolling, name)
	t.drop(name)
	next := min(len(t.waiting), max(Limit-len(t.rolling), 0))
	for _, other := range t.waiting[:next] {
		t.Schedule(other, 0)
	}
	// Those that do not take their turn must not keep it from others.
	t.waiting = slices.Delete(t.waiting, 0, next)
}

// drop notes that a Deployment no longer waits.
func (t *Turns) drop(name types.NamespacedName) {
	delete(t.wanted, name)
	t.waiting = slices.DeleteFunc(t.waiting, func(other types.NamespacedName) bool { return other == name })
}

// expire lets rollouts that do not end count no longer.
func (t *Turns) expire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, since := range t.rolling {
		if t.clock().Sub(since) >= Patience {
			t.current[name] = true
			t.leave(name)
		}
	}
}
