package scenario

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/objects"
	"github.com/c5c3/forge/hack/bench/internal/world"
)

// batch is how many resources are created next to a fault: their cost and
// duration show whether the fault delays them.
const batch = 20

// badNames are the prefixes of the namespaces of these batches.
var badNames = []string{"failing", "slow-store", "invalid", "late", "refused"}

// broken names the resource that fails forever.
func (r *Run) broken() []client.ObjectKey { return r.options.Operator.Keys("broken", 1, 1) }

// extras are the resources in addition to those of the size.
func (r *Run) extras() []client.ObjectKey {
	keys := r.broken()
	for _, prefix := range badNames {
		keys = append(keys, r.options.Operator.Keys(prefix, batch, batch)...)
	}
	return keys
}

// beside measures a batch of additional resources while a fault lasts.
func (r *Run) beside(ctx context.Context, name string, begin func(context.Context, []client.ObjectKey) error) error {
	keys := r.options.Operator.Keys(name, batch, batch)
	if err := r.world.Prepare(ctx, keys); err != nil {
		return err
	}
	return r.measure(ctx, name, batch, func(ctx context.Context) error {
		if begin != nil {
			if err := begin(ctx, keys); err != nil {
				return err
			}
		}
		return r.createReady(ctx, keys)
	})
}

// failing measures next to a resource that fails forever.
func (r *Run) failing(ctx context.Context) error {
	broken := r.broken()
	if err := r.world.Prepare(ctx, broken); err != nil {
		return err
	}
	r.options.Operator.Break(r.world.Standins, broken[0])
	if err := objects.Create(ctx, r.world.Client, r.options.Operator.New(broken[0])); err != nil {
		return err
	}
	observed := func(s world.State) bool { return s.Observed && !s.Ready }
	if err := r.await(ctx, broken, observed); err != nil {
		return err
	}
	return r.beside(ctx, "failing", nil)
}

// slowStore measures with a secret store that never accepts the copies of the keys.
func (r *Run) slowStore(ctx context.Context) error {
	return r.beside(ctx, "slow-store", func(_ context.Context, keys []client.ObjectKey) error {
		for _, key := range keys {
			r.options.Operator.Slow(r.world.Standins, key)
		}
		return nil
	})
}

// invalid makes all resources invalid at once, and valid again.
func (r *Run) invalid(ctx context.Context) error {
	err := r.beside(ctx, "invalid", func(ctx context.Context, _ []client.ObjectKey) error {
		return r.world.Change(ctx, r.keys, r.options.Operator.Spoil)
	})
	if err != nil {
		return err
	}
	if err := r.world.Change(ctx, r.keys, r.options.Operator.Mend); err != nil {
		return err
	}
	return r.await(ctx, r.keys, ready)
}

// late measures with an API server that answers 20 ms later.
func (r *Run) late(ctx context.Context) error {
	return r.disturbed(ctx, "late", world.Disturbance{Delay: 20 * time.Millisecond})
}

// refused measures with an API server that refuses every tenth request because of overload.
func (r *Run) refused(ctx context.Context) error {
	return r.disturbed(ctx, "refused", world.Disturbance{Refuse: 10})
}

// disturbed measures a batch with an operator whose connection to the API server is
// disturbed, and then restarts the operator without the disturbance.
func (r *Run) disturbed(ctx context.Context, name string, by world.Disturbance) error {
	between, err := r.world.Disturb(ctx, by)
	if err != nil {
		return err
	}
	defer between.Close()
	if err := r.startAt(ctx, between.Address); err != nil {
		return err
	}
	if err := r.beside(ctx, name, nil); err != nil {
		return err
	}
	if by.Refuse > 0 {
		r.say("%d requests were refused", between.Refused())
	}
	return r.startAt(ctx, "")
}

// startAt restarts the operator, with another server in the place of the API
// server.
func (r *Run) startAt(ctx context.Context, server string) error {
	if err := r.operator.process.Stop(); err != nil {
		return err
	}
	if err := r.operator.start(ctx, server); err != nil {
		return err
	}
	_, err := r.quiet(ctx)
	return err
}
