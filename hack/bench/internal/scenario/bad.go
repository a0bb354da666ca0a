package scenario

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/world"
	"github.com/c5c3/forge/internal/common/testutil/standin"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// batch is how many Keystones are created next to a fault: their cost and
// duration show whether the fault delays them.
const batch = 20

// badNames are the prefixes of the namespaces of these batches.
var badNames = []string{"failing", "slow-store", "invalid", "late", "refused"}

// broken names the Keystone that fails forever.
var broken = client.ObjectKey{Namespace: "broken-0", Name: "keystone-0"}

// extras are the Keystones in addition to those of the size.
func (r *Run) extras() []client.ObjectKey {
	keys := []client.ObjectKey{broken}
	for _, prefix := range badNames {
		keys = append(keys, world.Keys(prefix, batch, batch)...)
	}
	return keys
}

// beside measures a batch of additional Keystones while a fault lasts.
func (r *Run) beside(ctx context.Context, name string, begin func(context.Context, []client.ObjectKey) error) error {
	keys := world.Keys(name, batch, batch)
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

// failing measures next to a Keystone whose database Job fails forever.
func (r *Run) failing(ctx context.Context) error {
	if err := r.world.Prepare(ctx, []client.ObjectKey{broken}); err != nil {
		return err
	}
	r.world.Jobs.Set(broken.Namespace, broken.Name+"-db-sync", standin.Fail("the schema is damaged"))
	if err := r.world.Create(ctx, world.Brownfield(broken)); err != nil {
		return err
	}
	observed := func(s world.State) bool { return s.Observed && !s.Ready }
	if err := r.await(ctx, []client.ObjectKey{broken}, observed); err != nil {
		return err
	}
	return r.beside(ctx, "failing", nil)
}

// slowStore measures with a secret store that never accepts the copies of the keys.
func (r *Run) slowStore(ctx context.Context) error {
	return r.beside(ctx, "slow-store", func(_ context.Context, keys []client.ObjectKey) error {
		for _, key := range keys {
			for _, family := range []string{"fernet", "credential"} {
				r.world.Secrets.Set("PushSecret", key.Namespace, key.Name+"-"+family+"-keys-backup", standin.Hang())
			}
		}
		return nil
	})
}

// wrongSchedule passes the schema but not the checks of the operator.
const wrongSchedule = "whenever"

// invalid makes all Keystones invalid at once, and valid again.
func (r *Run) invalid(ctx context.Context) error {
	schedules := func(schedule string) func(*keystonev1alpha1.Keystone) {
		return func(k *keystonev1alpha1.Keystone) { k.Spec.Fernet.RotationSchedule = schedule }
	}
	err := r.beside(ctx, "invalid", func(ctx context.Context, _ []client.ObjectKey) error {
		return r.world.Change(ctx, r.keys, schedules(wrongSchedule))
	})
	if err != nil {
		return err
	}
	if err := r.world.Change(ctx, r.keys, schedules(keystonev1alpha1.DefaultRotationSchedule)); err != nil {
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
