package rollout

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

var (
	outdated = State{Exists: true, Settled: true, Differs: true}
	changing = State{Exists: true}
	current  = State{Exists: true, Settled: true}
)

func named(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "openstack", Name: fmt.Sprint("harbour-", i)}
}

// turns returns Turns of which all are taken, and the clock that they read.
func turns(t *testing.T) (*Turns, *time.Time) {
	t.Helper()
	now := time.Unix(1_000_000, 0)
	all := NewTurns(func() time.Time { return now })
	for i := range Limit {
		if !all.Take(named(i), outdated) {
			t.Fatalf("Deployment %d may not change, although only %d others do", i, i)
		}
	}
	return all, &now
}

func TestConcurrentRolloutsAreLimited(t *testing.T) {
	all, _ := turns(t)
	if all.Take(named(Limit), outdated) {
		t.Fatalf("%d Deployments change at the same time", Limit+1)
	}
	for _, state := range []State{outdated, changing} {
		if !all.Take(named(0), state) {
			t.Errorf("a Deployment that has begun to change may not go on in state %+v", state)
		}
	}
	all.Take(named(0), current)
	if !all.IsCurrent(named(0)) || !all.Take(named(Limit), outdated) {
		t.Error("a Deployment that has changed keeps another from changing")
	}
	if all.Take(named(Limit+1), outdated) {
		t.Error("the turn of one Deployment was given to two")
	}
}

func TestNewUnchangedAndUnavailableDeploymentsAreNotLimited(t *testing.T) {
	all, _ := turns(t)
	for name, state := range map[string]State{
		"new": {}, "unchanged": current, "not available": {Exists: true, Differs: true}, "changing since another operator": changing,
	} {
		if !all.Take(named(Limit), state) {
			t.Errorf("a Deployment that is %s has to wait", name)
		}
		all.Forget(named(Limit))
	}
}

func TestALaterChangeOfAnUpToDateDeploymentIsNotLimited(t *testing.T) {
	all, _ := turns(t)
	all.Take(named(Limit), current)
	if !all.Take(named(Limit), outdated) {
		t.Error("it has to wait")
	}
}

func TestAnotherChangeOfAQueuedDeploymentIsNotLimited(t *testing.T) {
	all, _ := turns(t)
	state := outdated
	for _, step := range []struct {
		wanted string
		may    bool
	}{{"a", false}, {"a", false}, {"b", true}} {
		state.Wanted = step.wanted
		if got := all.Take(named(Limit), state); got != step.may {
			t.Errorf("a Deployment that is to become %q may change: %t", step.wanted, got)
		}
	}
}

func TestAnUnusedRolloutSlotIsPassedOn(t *testing.T) {
	all, _ := turns(t)
	for i := range 3 {
		all.Take(named(Limit+i), outdated)
	}
	go all.Start(t.Context()) //nolint:errcheck // It has no error.
	for i := range 3 {
		all.Forget(named(i))
		if got := (<-all.News()).Object.GetName(); got != named(Limit+i).Name {
			t.Errorf("turn %d went to %s, want %s", i, got, named(Limit+i).Name)
		}
	}
}

func TestRolloutsStartedByAPreviousOperatorCountTowardsTheLimit(t *testing.T) {
	all := NewTurns(nil)
	for i := range Limit {
		all.Take(named(i), changing)
	}
	if all.Take(named(Limit), outdated) {
		t.Errorf("%d Deployments change at the same time", Limit+1)
	}
}

func TestTheNextRolloutStartsWhenAnotherIsDeletedOrTimesOut(t *testing.T) {
	for name, end := range map[string]func(*Turns, *time.Time){
		"deleted":  func(all *Turns, _ *time.Time) { all.Forget(named(0)) },
		"too long": func(all *Turns, now *time.Time) { *now = now.Add(Patience); all.Schedule(named(0), 0) },
	} {
		all, now := turns(t)
		all.Take(named(Limit), outdated)
		end(all, now)
		go all.Start(t.Context()) //nolint:errcheck // It has no error.
		for triggered := ""; triggered != named(Limit).Name; {
			triggered = (<-all.News()).Object.GetName()
		}
		if !all.Take(named(Limit), outdated) {
			t.Errorf("%s: it was triggered and still has to wait", name)
		}
	}
}
