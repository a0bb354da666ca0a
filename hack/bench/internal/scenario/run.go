// Package scenario defines what the bench does with the operator, and what it measures
// in each step.
package scenario

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/result"
	"github.com/c5c3/forge/hack/bench/internal/world"
)

// Run is one run of all scenarios for one size, in a separate World.
type Run struct {
	options  Options
	size     int
	samples  result.Samples
	world    *world.World
	operator *operator
	keys     []client.ObjectKey
	begun    time.Time
}

// say reports progress.
func (r *Run) say(format string, args ...any) {
	fmt.Fprintf(r.options.Progress, "%4.0f s  %5d  %s\n", time.Since(r.begun).Seconds(), r.size, fmt.Sprintf(format, args...))
}

// await waits until holds is true for all the resources.
func (r *Run) await(ctx context.Context, keys []client.ObjectKey, holds func(world.State) bool) error {
	told := time.Now()
	return r.world.Resources.Await(ctx, keys, holds, r.operator.process.Alive, func(done int) {
		if time.Since(told) > 10*time.Second {
			r.say("%d of %d", done, len(keys))
			told = time.Now()
		}
	})
}

func ready(s world.State) bool { return s.Ready }
