// Package crashwalk verifies that an operator survives a failure at any point. It
// runs a scenario once undisturbed and records the operator's writes, or all its
// calls. Then it kills the operator at each of them, in a separate run, and makes
// each of them fail in one of a few runs with several failures.
//
// With -short only the first write, or call, of each kind is disturbed: the operator is
// killed at one after another in a single run. Other failures take turns in scenarios in
// which it is not killed, and are left out of those in which it is. Scenarios that are
// marked as long are skipped.
package crashwalk

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/c5c3/forge/internal/common/testutil/expect"
	"github.com/c5c3/forge/internal/common/testutil/short"
	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// stopTimeout bounds how long an operator may take to stop.
const stopTimeout = 30 * time.Second

// Walk runs the scenario with failures at every write, or every call, and fails
// the test for each run that does not end in the right state.
func Walk[S any](t *testing.T, s Scenario[S]) {
	t.Helper()
	if s.Long {
		short.Skip(t)
	}
	if len(s.Modes) == 0 {
		s.Modes = []transport.Mode{transport.KillAfter}
	}
	if s.Parallel == 0 {
		s.Parallel = 4
	}
	if len(s.Writes) == 0 {
		t.Fatal("Scenario.Writes is empty: there is nothing that the walk has to strike")
	}
	start := time.Now()
	undisturbed, seen, err := s.undisturbed(t.Context())
	if err != nil {
		t.Fatalf("the undisturbed run: %v", err)
	}
	points := s.points(seen.Calls())
	struck := s.walk(t, undisturbed, points)
	t.Logf("%d failures struck in %d runs in %s; the calls of the undisturbed run:\n%s",
		len(struck), len(points), time.Since(start).Round(time.Second), seen)
	if reads := struck.Filter(func(r transport.Request) bool { return !r.Write() }); s.EveryCall && len(reads) == 0 {
		t.Error("no failure struck a read: the walk proves too little")
	}
}

// walk tries all points and returns the requests that were disturbed.
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
					t.Errorf("%v at %v, struck %s:\n%v", p.modes, p.calls, hits, err)
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

// undisturbed returns the state that the operator reaches without failures and the
// calls, or only the writes, that lead to it.
func (s Scenario[S]) undisturbed(ctx context.Context) (state S, calls transport.Requests, err error) {
	namespace, err := s.Prepare(ctx)
	if err != nil {
		return state, nil, err
	}
	none := transport.NewFaults(nil)
	made := func() transport.Requests {
		return none.Seen().Filter(func(r transport.Request) bool {
			if r.Write() {
				// Refused writes are repeated, depending on how far the caches are behind.
				return r.Stored()
			}
			return s.EveryCall
		})
	}
	settled := s.settled(namespace, func() error {
		calls = made()
		numbered := calls.Calls()
		return s.outstanding(s.promised(), func(call transport.Call) bool { return slices.Contains(numbered, call) })
	})
	err = s.run(ctx, none.Config(s.Config), namespace, func(ctx context.Context) (err error) {
		if err = settled(ctx); err == nil {
			state, err = s.lasting(ctx, namespace)
		}
		return err
	})
	return state, calls, err
}

// lasting returns a state that the operator keeps: Settled holds before and after it. A
// status from before the operator's last change may look settled, so a single observation
// may show what the operator is about to leave.
func (s Scenario[S]) lasting(ctx context.Context, namespace string) (state S, err error) {
	var before *S
	err = expect.Until(ctx, func(ctx context.Context) error {
		now, err := s.Observe(ctx, namespace)
		if err == nil {
			err = s.Settled(ctx, namespace)
		}
		if err != nil {
			before = nil
			return err
		}
		if before == nil || !reflect.DeepEqual(*before, now) {
			before = &now
			return errors.New("the state has been observed only once")
		}
		state = now
		return nil
	})
	return state, err
}

// try runs the scenario with the failures of a point and returns the requests
// that were disturbed: none if the operator did not make those calls, as may happen if
// the number of its calls depends on timing.
func (s Scenario[S]) try(ctx context.Context, p point, undisturbed S) (hits transport.Requests, err error) {
	if !p.kills() {
		namespace, err := s.Prepare(ctx)
		if err != nil {
			return nil, err
		}
		return s.fail(ctx, p, namespace, undisturbed)
	}
	for len(p.calls) > 0 {
		namespace, err := s.Prepare(ctx)
		if err != nil {
			return hits, err
		}
		struck, err := s.kill(ctx, p, namespace, undisturbed)
		hits = append(hits, struck...)
		if err != nil || len(struck) == 0 {
			return hits, err
		}
		p.calls = without(p.calls, struck)
	}
	return hits, nil
}

// judged waits until the operator has settled and Compare accepts the state that
// followed from each of the states that the operator left.
func (s Scenario[S]) judged(namespace string, undisturbed S, left []S) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := s.settled(namespace, nothing)(ctx); err != nil {
			return err
		}
		if s.patience > 0 {
			var giveUp context.CancelFunc
			ctx, giveUp = context.WithTimeout(ctx, s.patience)
			defer giveUp()
		}
		return expect.Until(ctx, func(ctx context.Context) error {
			final, err := s.Observe(ctx, namespace)
			if err != nil {
				return err
			}
			for _, failed := range left {
				if wrong := s.Compare(undisturbed, failed, final); wrong != "" {
					return errors.New(wrong)
				}
			}
			return nil
		})
	}
}

// fail runs the operator with failures that it survives, judges the resulting
// state, and returns what was disturbed.
func (s Scenario[S]) fail(ctx context.Context, p point, namespace string, undisturbed S) (transport.Requests, error) {
	faults := transport.NewFaults(p.calls, p.modes...)
	err := s.run(ctx, faults.Config(s.Config), namespace, func(ctx context.Context) error {
		err := s.settled(namespace, func() error { return s.outstanding(p.calls, faults.Reached) })(ctx)
		if err != nil {
			return err
		}
		faults.End()
		left, err := s.Observe(ctx, namespace)
		if err != nil {
			return err
		}
		return s.judged(namespace, undisturbed, []S{left})(ctx)
	})
	return faults.Hits(), err
}

// kill kills the operator at one call after another and then runs it once
// more to the end, judges the result for each of the states that were left, and returns
// what was disturbed. An operator that was killed may not need the remaining calls.
func (s Scenario[S]) kill(ctx context.Context, p point, namespace string, undisturbed S) (hits transport.Requests, err error) {
	var left []S
	for calls := p.calls; len(calls) > 0; calls = without(calls, hits) {
		faults := transport.NewFaults(calls, p.modes...)
		err := s.run(ctx, faults.Config(s.Config), namespace, func(ctx context.Context) error {
			return expect.Until(ctx, func(ctx context.Context) error {
				if fired(faults) {
					return nil
				}
				if err := s.Settled(ctx, namespace); err != nil || len(hits) > 0 {
					return err
				}
				return s.outstanding(calls, faults.Reached)
			})
		})
		if err != nil {
			return hits, err
		}
		state, err := s.Observe(ctx, namespace)
		if err != nil {
			return hits, err
		}
		left = append(left, state)
		struck := faults.Hits()
		if len(struck) == 0 {
			break
		}
		hits = append(hits, struck...)
	}
	if err := s.run(ctx, s.Config, namespace, s.judged(namespace, undisturbed, left)); err != nil {
		return hits, fmt.Errorf("after the last restart: %w", err)
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

func nothing() error { return nil }

// settled waits until the operator has nothing left to do and also returns nil.
func (s Scenario[S]) settled(namespace string, also func() error) func(context.Context) error {
	return func(ctx context.Context) error {
		return expect.Until(ctx, func(ctx context.Context) error {
			if err := s.Settled(ctx, namespace); err != nil {
				return err
			}
			return also()
		})
	}
}

// run starts the operator, waits for until to return, and stops the operator.
// It is an error if the operator exits by itself.
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
