package crashwalk

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/c5c3/forge/internal/common/testutil/transport"
)

// A run has only a few of the failures that an operator survives, and the number of
// runs is limited: each failed pass is retried with a growing delay.
const (
	failuresPerRun = 4
	maxRuns        = 5
)

// point is a disturbance of a run: the calls and what happens at them. An
// operator that is killed is restarted for the remaining calls.
type point struct {
	calls []transport.Call
	modes []transport.Mode
}

func (p point) kills() bool { return p.modes[0].Kills() }

// points returns a point for each call and mode that kills. For the other modes a
// few runs take a part of the calls each, so that together they cover all of them.
func (s Scenario[S]) points(calls []transport.Call) []point {
	if testing.Short() {
		return s.firstPoints(calls)
	}
	if s.EveryCall {
		return recurring(calls, s.Modes...)
	}
	var points []point
	for _, mode := range s.Modes {
		if !mode.Kills() {
			points = append(points, recurring(calls, mode)...)
			continue
		}
		for _, call := range calls {
			points = append(points, point{calls: []transport.Call{call}, modes: []transport.Mode{mode}})
		}
	}
	return points
}

// firstPoints returns points for the first call of each kind: one for each mode that
// kills or, if none does, a few at which the modes alternate. A failure that the operator
// survives leaves no other state in the cluster than its death at the same call.
func (s Scenario[S]) firstPoints(calls []transport.Call) []point {
	calls = slices.DeleteFunc(slices.Clone(calls), func(call transport.Call) bool { return call.N > 1 })
	certain := slices.DeleteFunc(slices.Clone(calls), func(call transport.Call) bool { return !s.certain(call) })
	var points []point
	for _, mode := range s.Modes {
		if mode.Kills() {
			points = append(points, point{calls: certain, modes: []transport.Mode{mode}})
		}
	}
	if len(points) > 0 {
		return points
	}
	return recurring(calls, s.Modes...)
}

// recurring returns a few points that together have all calls. In each of them the modes
// alternate.
func recurring(calls []transport.Call, modes ...transport.Mode) []point {
	runs := min(maxRuns, (len(calls)+failuresPerRun-1)/failuresPerRun)
	var points []point
	for first := range runs {
		p := point{modes: modes}
		for i := first; i < len(calls); i += runs {
			p.calls = append(p.calls, calls[i])
		}
		points = append(points, p)
	}
	return points
}

// certain reports whether every run makes the call.
func (s Scenario[S]) certain(call transport.Call) bool { return call.N <= s.Writes[call.Kind] }

// outstanding returns an error that names the calls that every run
// makes and this one has not made yet.
func (s Scenario[S]) outstanding(calls []transport.Call, made func(transport.Call) bool) error {
	var missing []transport.Call
	for _, call := range calls {
		if s.certain(call) && !made(call) {
			missing = append(missing, call)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("the operator has nothing left to do and has not made %v, which Scenario.Writes promises", missing)
	}
	return nil
}

// promised returns the calls of Writes.
func (s Scenario[S]) promised() []transport.Call {
	var calls []transport.Call
	for _, kind := range slices.Sorted(maps.Keys(s.Writes)) {
		for n := range s.Writes[kind] {
			calls = append(calls, transport.Call{Kind: kind, N: n + 1})
		}
	}
	return calls
}

// without returns the calls whose kind was not disturbed.
func without(calls []transport.Call, struck transport.Requests) []transport.Call {
	return slices.DeleteFunc(slices.Clone(calls), func(call transport.Call) bool {
		return slices.ContainsFunc(struck, func(r transport.Request) bool { return r.Kind().String() == call.Kind })
	})
}
