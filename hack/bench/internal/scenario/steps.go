package scenario

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/c5c3/forge/hack/bench/internal/machine"
	"github.com/c5c3/forge/hack/bench/internal/operators"
	"github.com/c5c3/forge/hack/bench/internal/result"
	"github.com/c5c3/forge/hack/bench/internal/world"
)

// step is a scenario.
type step struct {
	name string
	run  func(*Run, context.Context) error
	// always is set for steps that others depend on.
	always bool
	// possible reports whether an operator can run it; nil means that all can.
	possible func(*operators.Operator) bool
}

// steps are all scenarios in order: each builds on the previous ones.
var steps = []step{
	{name: "start", run: (*Run).start, always: true},
	{name: "create", run: (*Run).create, always: true},
	{name: "label", run: (*Run).label},
	{name: "replicas", run: (*Run).replicas, possible: func(o *operators.Operator) bool { return o.Grow != nil }},
	{name: "shared", run: (*Run).shared},
	{name: "restart", run: (*Run).restart},
	{name: "failing", run: (*Run).failing, possible: func(o *operators.Operator) bool { return o.Break != nil }},
	{name: "slow-store", run: (*Run).slowStore, possible: func(o *operators.Operator) bool { return o.Slow != nil }},
	{name: "invalid", run: (*Run).invalid, possible: func(o *operators.Operator) bool { return o.Spoil != nil }},
	{name: "late", run: (*Run).late},
	{name: "refused", run: (*Run).refused},
	{name: "pods", run: (*Run).pods, possible: func(o *operators.Operator) bool { return o.Populate != nil }},
	{name: "foreign", run: (*Run).foreign},
	{name: "restart-full", run: (*Run).restartFull},
}

func (s step) isPossible(o *operators.Operator) bool { return s.possible == nil || s.possible(o) }

// Names returns the names of an operator's scenarios in order.
func Names(o *operators.Operator) []string {
	names := make([]string, 0, len(steps))
	for _, s := range steps {
		if s.isPossible(o) {
			names = append(names, s.name)
		}
	}
	return names
}

// Unknown returns the first name that is not a scenario of an operator, "" if there is none.
func Unknown(o *operators.Operator, names []string) string {
	known := Names(o)
	for _, name := range names {
		if !slices.Contains(known, name) {
			return name
		}
	}
	return ""
}

// Do measures with the given number of resources and adds to the samples.
func Do(ctx context.Context, o Options, size int, samples result.Samples) (err error) {
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return err
	}
	r := &Run{options: o, size: size, samples: samples, keys: o.Operator.Keys("bench", size, o.PerNamespace), begun: time.Now()}
	r.say("starting the API server")
	if r.world, err = world.Open(ctx, world.Options{Root: o.Root, Dir: o.Dir, Operator: o.Operator}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.prepareOperator(); err != nil {
		return err
	}
	for _, s := range steps {
		if !s.isPossible(o.Operator) || (!s.always && len(o.Scenarios) > 0 && !slices.Contains(o.Scenarios, s.name)) {
			continue
		}
		if err := r.do(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// prepareOperator creates what the operator runs in, without starting it.
func (r *Run) prepareOperator() (err error) {
	r.operator = &operator{options: r.options, world: r.world}
	if r.operator.group, err = machine.NewGroup(r.options.Memory); err != nil {
		if r.options.Memory > 0 {
			return fmt.Errorf("limit the operator's memory: %w", err)
		}
		r.say("without a control group: %v", err)
	}
	r.operator.hosts, err = r.world.Hosts(slices.Concat(r.keys, r.extras()))
	return err
}

func (r *Run) do(ctx context.Context, s step) error {
	if err := s.run(r, ctx); err != nil || !r.options.Profile {
		return err
	}
	return r.operator.profile(ctx, fmt.Sprintf("%d-%s", r.size, s.name))
}

func (r *Run) close() error {
	errs := []error{r.operator.kill()}
	if r.operator.group != nil {
		errs = append(errs, r.operator.group.Close())
	}
	return errors.Join(append(errs, r.world.Close())...)
}
