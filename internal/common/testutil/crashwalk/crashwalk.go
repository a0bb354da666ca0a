// Package crashwalk proves that an operator survives a failure at any point:
// it runs a scenario once undisturbed and counts the operator's writes, or all
// its calls. Then it kills the operator at each of them, in a run of its own,
// and has each of them fail in one of a few runs with failures all along.
package crashwalk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// stopTimeout bounds how long an operator may take to stop.
const stopTimeout = 30 * time.Second

// apart is how many calls lie between two failures of a run that goes on after
// them: enough for the call to be repeated and for some progress.
const apart = 5

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
	// one failure a call. The modes must not kill.
	EveryCall bool
	// Parallel is how many runs go on at the same time; by default 4.
	Parallel int
}

// point is where a run is disturbed: at one of the calls of the undisturbed run
// and at every so many of them after it.
type point struct {
	call, every int
	calls       transport.Requests
	modes       []transport.Mode
}

func (p point) kills() bool { return p.modes[0].Kills() }

// points returns one point for each call and mode that kills. Of the other modes
// a run takes a part of the calls each, so that they have all of them together.
func (s Scenario[S]) points(calls transport.Requests) []point {
	var points []point
	recurring := func(modes ...transport.Mode) {
		for i := range min(apart, len(calls)) {
			points = append(points, point{call: i + 1, every: apart, calls: calls, modes: modes})
		}
	}
	if s.EveryCall {
		recurring(s.Modes...)
		return points
	}
	for _, mode := range s.Modes {
		if !mode.Kills() {
			recurring(mode)
			continue
		}
		for i := range calls {
			points = append(points, point{call: i + 1, every: len(calls), calls: calls, modes: []transport.Mode{mode}})
		}
	}
	return points
}

// failures is how many failures the points stand for.
func (s Scenario[S]) failures(calls int) int {
	if s.EveryCall {
		return calls
	}
	return calls * len(s.Modes)
}

func (s Scenario[S]) faults(p point) *transport.Faults {
	faults := transport.NewFaults(p.call, p.modes[0])
	if s.EveryCall {
		faults = transport.NewCallFaults(p.call, p.modes[0])
	}
	if p.calls != nil {
		faults.Recurring(p.calls, p.every, p.modes...)
	}
	return faults
}

// Walk runs the scenario with failures at every write, or every call, and fails
// the test for each run that does not end well.
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
	points := s.points(calls)
	struck := s.walk(t, undisturbed, points)
	planned := s.failures(len(calls))
	t.Logf("%d failures struck in %d runs, %d planned for %d calls, in %s; the calls:\n%s", len(struck), len(points),
		planned, len(calls), time.Since(start).Round(time.Second), calls)
	// The last calls may be status updates that are sometimes saved.
	if len(struck) < planned*3/4 {
		t.Errorf("only %d of %d failures struck: the walk proves too little", len(struck), planned)
	}
	if missed := kinds(calls).Difference(kinds(struck)); missed.Len() > max(1, kinds(calls).Len()/4) {
		t.Errorf("no failure struck any %v: the walk proves too little", sets.List(missed))
	}
}

// kinds returns what the requests are about, without the names of objects, which
// may depend on the namespace.
func kinds(requests transport.Requests) sets.Set[string] {
	found := sets.New[string]()
	for _, r := range requests {
		found.Insert(r.Kind().String())
	}
	return found
}

// walk tries all points and returns the requests that were struck.
func (s Scenario[S]) walk(t *testing.T, undisturbed S, points []point) transport.Requests {
	t.Helper()
	var (
		mu      sync.Mutex
		struck  transport.Requests
		workers sync.WaitGroup
	)
	next := make(chan point)
	for range s.Parallel {
		workers.Go(func() {
			for p := range next {
				hits, err := s.try(t.Context(), p, undisturbed)
				if err != nil {
					t.Errorf("%v from call %d on, %s:\n%v", p.modes, p.call, hits, err)
				}
				mu.Lock()
				struck = append(struck, hits...)
				mu.Unlock()
			}
		})
	}
	for _, p := range points {
		next <- p
	}
	close(next)
	workers.Wait()
	return struck
}

// undisturbed returns the state that the operator reaches by itself and the
// calls, or writes alone, that take it there.
func (s Scenario[S]) undisturbed(ctx context.Context) (state S, calls transport.Requests, err error) {
	namespace, err := s.Prepare(ctx)
	if err != nil {
		return state, nil, err
	}
	none := s.faults(point{modes: []transport.Mode{transport.FailBefore}})
	if err := s.run(ctx, none.Config(s.Config), namespace, s.settled(namespace)); err != nil {
		return state, nil, err
	}
	state, err = s.Observe(ctx, namespace)
	// What was refused is repeated, as often as the caches are behind.
	calls = none.Seen().Filter(func(r transport.Request) bool { return !r.Write() || r.Stored() })
	return state, calls, err
}

// try runs the scenario with the failures of a point and returns the requests
// they struck: none when the operator got by without that call, as it may where
// the number of its calls depends on timing.
func (s Scenario[S]) try(ctx context.Context, p point, undisturbed S) (hits transport.Requests, err error) {
	namespace, err := s.Prepare(ctx)
	if err != nil {
		return nil, err
	}
	faults := s.faults(p)
	err = s.run(ctx, faults.Config(s.Config), namespace, func(ctx context.Context) error {
		err := expect.Until(ctx, func(ctx context.Context) error {
			if p.kills() && fired(faults) {
				return nil
			}
			return s.Settled(ctx, namespace)
		})
		if err != nil || p.kills() {
			return err
		}
		faults.End()
		return s.settled(namespace)(ctx)
	})
	hits = faults.Hits()
	if err != nil {
		return hits, err
	}
	failed, err := s.Observe(ctx, namespace)
	if err != nil {
		return hits, err
	}
	if p.kills() {
		if err := s.run(ctx, s.Config, namespace, s.settled(namespace)); err != nil {
			return hits, fmt.Errorf("after the restart: %w", err)
		}
	}
	final, err := s.Observe(ctx, namespace)
	if err != nil {
		return hits, err
	}
	if wrong := s.Compare(undisturbed, failed, final); wrong != "" {
		return hits, errors.New(wrong)
	}
	return hits, nil
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
