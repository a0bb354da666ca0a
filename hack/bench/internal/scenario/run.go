// Package scenario defines what the bench does with the operator, and what it measures
// in each step.
package scenario

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/hack/bench/internal/machine"
	"github.com/c5c3/forge/hack/bench/internal/result"
	"github.com/c5c3/forge/hack/bench/internal/world"
)

// Options say what is measured and how.
type Options struct {
	// Root is the top of the checkout, Dir a folder for logs and profiles, Operator
	// the program to measure.
	Root, Dir, Operator string
	// OperatorFlags and OperatorEnv are added to those of the chart.
	OperatorFlags, OperatorEnv []string
	// Workers is how many Keystones are reconciled concurrently.
	Workers int
	// PerNamespace is how many Keystones share a namespace.
	PerNamespace int
	// Pods is how many each Keystone has in total, Foreign how many foreign Secrets and as
	// many foreign Pods there are.
	Pods, Foreign int
	// Memory limits the operator's memory in bytes; 0 is no limit.
	Memory int64
	// Scenarios are the names of those to run; empty means all.
	Scenarios []string
	// Profile stores heap profiles between the scenarios.
	Profile bool
	// Progress receives progress messages.
	Progress io.Writer
}

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

// step is a scenario.
type step struct {
	name string
	run  func(*Run, context.Context) error
	// always is set for steps that others depend on.
	always bool
}

// steps are all scenarios in order: each builds on the previous ones.
var steps = []step{
	{name: "start", run: (*Run).start, always: true},
	{name: "create", run: (*Run).create, always: true},
	{name: "label", run: (*Run).label},
	{name: "replicas", run: (*Run).replicas},
	{name: "shared", run: (*Run).shared},
	{name: "restart", run: (*Run).restart},
	{name: "failing", run: (*Run).failing},
	{name: "slow-store", run: (*Run).slowStore},
	{name: "invalid", run: (*Run).invalid},
	{name: "late", run: (*Run).late},
	{name: "refused", run: (*Run).refused},
	{name: "pods", run: (*Run).pods},
	{name: "foreign", run: (*Run).foreign},
	{name: "restart-full", run: (*Run).restartFull},
}

// Names returns the names of all scenarios in order.
func Names() []string {
	names := make([]string, len(steps))
	for i, s := range steps {
		names[i] = s.name
	}
	return names
}

// Unknown returns the first name that is not a scenario, "" if there is none.
func Unknown(names []string) string {
	known := Names()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

// Do measures with the given number of Keystones and adds to the samples.
func Do(ctx context.Context, o Options, size int, samples result.Samples) (err error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	r := &Run{options: o, size: size, samples: samples, keys: world.Keys("bench", size, o.PerNamespace), begun: time.Now()}
	r.say("starting the API server")
	if r.world, err = world.Open(ctx, world.Options{Root: o.Root, Dir: o.Dir}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	r.operator = &operator{options: o, world: r.world}
	if r.operator.group, err = machine.NewGroup(o.Memory); err != nil {
		if o.Memory > 0 {
			return fmt.Errorf("limit the operator's memory: %w", err)
		}
		r.say("without a control group: %v", err)
	}
	if r.operator.hosts, err = r.world.Hosts(world.ServiceHosts(slices.Concat(r.keys, r.extras()))); err != nil {
		return err
	}
	for _, s := range steps {
		if !s.always && len(o.Scenarios) > 0 && !slices.Contains(o.Scenarios, s.name) {
			continue
		}
		if err := s.run(r, ctx); err != nil {
			return err
		}
		if o.Profile {
			if err := r.operator.profile(ctx, fmt.Sprintf("%d-%s", size, s.name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Run) close() error {
	errs := []error{r.operator.kill()}
	if r.operator.group != nil {
		errs = append(errs, r.operator.group.Close())
	}
	return errors.Join(append(errs, r.world.Close())...)
}

// say reports progress.
func (r *Run) say(format string, args ...any) {
	fmt.Fprintf(r.options.Progress, "%4.0f s  %5d  %s\n", time.Since(r.begun).Seconds(), r.size, fmt.Sprintf(format, args...))
}

// await waits until holds is true for all the Keystones.
func (r *Run) await(ctx context.Context, keys []client.ObjectKey, holds func(world.State) bool) error {
	told := time.Now()
	return r.world.Keystones.Await(ctx, keys, holds, r.operator.process.Alive, func(done int) {
		if time.Since(told) > 10*time.Second {
			r.say("%d of %d", done, len(keys))
			told = time.Now()
		}
	})
}

func ready(s world.State) bool { return s.Ready }
