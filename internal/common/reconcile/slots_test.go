package reconcile

import (
	"context"
	"testing"
)

type pond struct{ *Slots }

var (
	depth = NewSlot[int]("depth")
	fish  = NewSlot[string]("fish")
)

func pondStep(name string, sets, reads []Value, work func(pond)) Step[pond] {
	return Step[pond]{Name: name, Condition: name + "Ready", Sets: sets, Reads: reads, Run: func(_ context.Context, p pond) Outcome {
		work(p)
		return Done("Ready", "")
	}}
}

func TestASlotValueReachesItsDeclaredReaders(t *testing.T) {
	var got int
	var known bool
	pipeline := Pipeline[pond]{
		pondStep("Dig", []Value{depth}, nil, func(p pond) { depth.Put(p.Slots, 3) }),
		pondStep("Measure", nil, []Value{depth}, func(p pond) { got, known = depth.Get(p.Slots) }),
	}
	if err := pipeline.Validate(); err != nil {
		t.Fatal(err)
	}
	pipeline.run(t.Context(), pond{&Slots{}}, nil)
	if got != 3 || !known {
		t.Errorf("got %d, %t", got, known)
	}
}

func TestAnEmptySlotIsReportedAsUnset(t *testing.T) {
	if _, known := depth.Get(&Slots{}); known {
		t.Error("an empty slot has a value")
	}
}

func TestAnUndeclaredUseOfAValuePanics(t *testing.T) {
	for name, step := range map[string]Step[pond]{
		"a read":  pondStep("Fish", nil, nil, func(p pond) { depth.Value(p.Slots) }),
		"a write": pondStep("Fish", nil, []Value{fish}, func(p pond) { fish.Put(p.Slots, "carp") }),
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("it went unnoticed")
				}
			}()
			Pipeline[pond]{step}.run(t.Context(), pond{&Slots{}}, nil)
		})
	}
}

func TestASlotMustBeSetByAnEarlierStep(t *testing.T) {
	nothing := func(pond) {}
	for name, pipeline := range map[string]Pipeline[pond]{
		"set by no step": {pondStep("Measure", nil, []Value{depth}, nothing)},
		"set later": {
			pondStep("Measure", nil, []Value{depth}, nothing),
			pondStep("Dig", []Value{depth}, nil, nothing),
		},
	} {
		if err := pipeline.Validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
