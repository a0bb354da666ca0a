// Package crashwalk proves that an operator survives a failure at any point:
// it runs a scenario once undisturbed and counts the operator's writes, or all
// its calls, and then once for every one of them with a failure there.
package crashwalk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// stopTimeout bounds how long an operator may take to stop.
const stopTimeout = 30 * time.Second

// Scenario is what is walked. Its functions are called from several goroutines,
// each with a namespace of its own. S is what a run is judged by.
type Scenario[S any] struct {
	// Config is how the operator reaches the API server.
	Config *rest.Config
	// Prepare creates a namespace with all that the operator is to act on, and
	// returns its name.
	Prepare func(ctx context.Context) (namespace string, err error)
	// Operator runs the operator for one namespace, with nothing in memory from
	// an earlier run and all requests made with cfg, until ctx ends.
	Operator func(ctx context.Context, cfg *rest.Config, namespace string) error
	// Settled returns nil once the operator has nothing left to do.
	Settled func(ctx context.Context, namespace string) error
	// Observe reads what is there, in terms that do not depend on the name of
	// the namespace.
	Observe func(ctx context.Context, namespace string) (S, error)
	// Compare returns what is wrong with the final state, given the state that
	// the undisturbed run reached and the state that a killed operator left. An
	// empty string means that all is well.
	Compare func(undisturbed, failed, final S) string
	// Modes are the failures to try at each write; by default a process that
	// dies just after the write. Dying just before it leaves the same as dying
	// just after the write before.
	Modes []transport.Mode
	// EveryCall walks reads and watches, too, and lets the modes take turns:
	// one failure a call.
	EveryCall bool
	// Parallel is how many runs go on at the same time; by default 4.
	Parallel int
}

// point is one failure to try.
type point struct {
	call int
	mode transport.Mode
}

func (s Scenario[S]) points(calls int) []point {
	var points []point
	for i := range calls {
		for n, mode := range s.Modes {
			if !s.EveryCall || i%len(s.Modes) == n {
				points = append(points, point{i + 1, mode})
			}
		}
	}
	return points
}

func (s Scenario[S]) faults(p point) *transport.Faults {
	if s.EveryCall {
		return transport.NewCallFaults(p.call, p.mode)
	}
	return transport.NewFaults(p.call, p.mode)
}

// Walk runs the scenario with a failure at every write, or every call, and fails the test for
// each that does not end well.
func Walk[S any](t *testing.T, s Scenario[S]) {
	t.Helper()
	if len(s.Modes) == 0 {
		s.Modes = []transport.Mode{transport.KillAfter}
	}
	if s.Parallel == 0 {
		s.Parallel = 4
	}
	start := time.Now()
	undisturbed, calls, err := s.undisturbed(t.Context())
	if err != nil {
		t.Fatalf("the undisturbed run: %v", err)
	}
	if len(calls) == 0 {
		t.Fatal("the undisturbed run wrote nothing: there is nothing to walk")
	}
	points := s.points(len(calls))
	struck := s.walk(t, undisturbed, points)
	t.Logf("%d of %d failures at %d calls struck, in %s; the calls:\n%s", struck, len(points), len(calls),
		time.Since(start).Round(time.Second), calls)
	// The last calls may be status updates that are sometimes saved.
	if struck < len(points)*3/4 {
		t.Errorf("only %d of %d failures struck: the walk proves too little", struck, len(points))
	}
}

// walk tries all points and returns how many of the failures struck.
func (s Scenario[S]) walk(t *testing.T, undisturbed S, points []point) int {
	t.Helper()
	var struck atomic.Int32
	next := make(chan point)
	var workers sync.WaitGroup
	for range s.Parallel {
		workers.Go(func() {
			for p := range next {
				hit, err := s.try(t.Context(), p, undisturbed)
				if err != nil {
					t.Errorf("%s call %d (%s): %v", p.mode, p.call, hit, err)
				}
				if hit.Verb != "" {
					struck.Add(1)
				}
			}
		})
	}
	for _, p := range points {
		next <- p
	}
	close(next)
	workers.Wait()
	return int(struck.Load())
}

// undisturbed returns the state that the operator reaches by itself and the
// calls, or writes alone, that take it there.
func (s Scenario[S]) undisturbed(ctx context.Context) (state S, calls transport.Requests, err error) {
	namespace, err := s.Prepare(ctx)
	if err != nil {
		return state, nil, err
	}
	none := s.faults(point{mode: transport.FailBefore})
	if err := s.run(ctx, none.Config(s.Config), namespace, s.settled(namespace)); err != nil {
		return state, nil, err
	}
	state, err = s.Observe(ctx, namespace)
	return state, none.Seen(), err
}

// try runs the scenario with one failure and returns the write it struck: the
// zero Request when the operator got by without that write, as it may where
// the number of its writes depends on timing.
func (s Scenario[S]) try(ctx context.Context, p point, undisturbed S) (hit transport.Request, err error) {
	namespace, err := s.Prepare(ctx)
	if err != nil {
		return hit, err
	}
	kills := p.mode == transport.KillBefore || p.mode == transport.KillAfter
	faults := s.faults(p)
	err = s.run(ctx, faults.Config(s.Config), namespace, func(ctx context.Context) error {
		return expect.Until(ctx, func(ctx context.Context) error {
			if kills && fired(faults) {
				return nil
			}
			return s.Settled(ctx, namespace)
		})
	})
	hit = faults.Hit()
	if err != nil {
		return hit, err
	}
	failed, err := s.Observe(ctx, namespace)
	if err != nil {
		return hit, err
	}
	if kills {
		if err := s.run(ctx, s.Config, namespace, s.settled(namespace)); err != nil {
			return hit, fmt.Errorf("after the restart: %w", err)
		}
	}
	final, err := s.Observe(ctx, namespace)
	if err != nil {
		return hit, err
	}
	if wrong := s.Compare(undisturbed, failed, final); wrong != "" {
		return hit, errors.New(wrong)
	}
	return hit, nil
}

func fired(f *transport.Faults) bool {
	select {
	case <-f.Fired():
		return true
	default:
		return false
	}
}

func (s Scenario[S]) settled(namespace string) func(context.Context) error {
	return func(ctx context.Context) error {
		return expect.Until(ctx, func(ctx context.Context) error { return s.Settled(ctx, namespace) })
	}
}

// run starts the operator, waits for until to return, and stops the operator.
// An operator that ends by itself is an error.
func (s Scenario[S]) run(
	ctx context.Context, cfg *rest.Config, namespace string, until func(context.Context) error,
) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	waiting, giveUp := context.WithTimeout(ctx, expect.Timeout)
	defer giveUp()
	ended := make(chan error, 1)
	go func() {
		ended <- s.Operator(ctx, cfg, namespace)
		giveUp()
	}()
	err := until(waiting)
	early := ctx.Err() == nil && len(ended) > 0
	stop()
	select {
	case endedWith := <-ended:
		if early {
			return errors.Join(err, errors.New("the operator ended by itself"), endedWith)
		}
	case <-time.After(stopTimeout):
		return errors.Join(err, fmt.Errorf("the operator has not stopped within %s", stopTimeout))
	}
	return err
}
