package world

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/objects"
	"github.com/c5c3/forge/hack/bench/internal/operators"
)

// State is the relevant state of a resource.
type State struct {
	// Ready is true when its condition Ready is True for its current generation, and
	// Observed when it is about that.
	Ready, Observed bool
}

// Tracker tracks the state of all resources with a watch.
type Tracker struct {
	mu     sync.Mutex
	states map[client.ObjectKey]State
}

func track(ctx context.Context, cfg *rest.Config, o *operators.Operator) (*Tracker, error) {
	t := &Tracker{states: map[client.ObjectKey]State{}}
	watched, err := cache.New(cfg, cache.Options{Scheme: o.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("watch the %s: %w", o.Plural, err)
	}
	informer, err := watched.GetInformer(ctx, o.Empty(), cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watch the %s: %w", o.Plural, err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc:    t.see,
		UpdateFunc: func(_, obj any) { t.see(obj) },
	})
	if err != nil {
		return nil, fmt.Errorf("watch the %s: %w", o.Plural, err)
	}
	go func() { _ = watched.Start(ctx) }()
	if !watched.WaitForCacheSync(ctx) {
		return nil, fmt.Errorf("watch the %s: %w", o.Plural, ctx.Err())
	}
	return t, nil
}

func (t *Tracker) see(obj any) {
	r, known := obj.(operators.Resource)
	if !known {
		return
	}
	state := State{}
	if ready := meta.FindStatusCondition(r.GetConditions(), "Ready"); ready != nil {
		state.Observed = ready.ObservedGeneration == r.GetGeneration()
		state.Ready = ready.Status == metav1.ConditionTrue && state.Observed
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.states[client.ObjectKeyFromObject(r)] = state
}

// Len returns how many resources there are.
func (t *Tracker) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.states)
}

// Await waits until holds is true for all the resources. alive returns an error if that
// can no longer happen; progress receives their number, each time it changes.
func (t *Tracker) Await(
	ctx context.Context, keys []client.ObjectKey, holds func(State) bool, alive func() error, progress func(done int),
) error {
	last := -1
	return objects.Poll(ctx, "wait for the resources", func(context.Context) (bool, error) {
		done := t.count(keys, holds)
		if done != last {
			progress(done)
		}
		last = done
		return done == len(keys), alive()
	})
}

func (t *Tracker) count(keys []client.ObjectKey, holds func(State) bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	done := 0
	for _, key := range keys {
		if state, known := t.states[key]; known && holds(state) {
			done++
		}
	}
	return done
}
