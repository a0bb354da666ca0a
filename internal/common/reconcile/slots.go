package reconcile

import (
	"fmt"
	"slices"
)

// Value is a named value that one step of a pass hands to later ones.
type Value interface {
	// Name identifies the value in messages and in the outline of a pipeline.
	Name() string
}

// Slot is a typed [Value]. A step that puts it declares it in Sets, one that gets it
// declares it in Reads.
type Slot[T any] struct{ name string }

// NewSlot returns a slot. The name must be unique in the pipeline.
func NewSlot[T any](name string) *Slot[T] { return &Slot[T]{name: name} }

// Name implements [Value].
func (s *Slot[T]) Name() string { return s.name }

// Put hands the value to the steps that read the slot.
func (s *Slot[T]) Put(in *Slots, value T) {
	in.check(s, in.sets, "sets")
	in.put(s, value)
}

// Get returns the value, and reports whether a step of this pass has put one.
func (s *Slot[T]) Get(from *Slots) (T, bool) {
	from.check(s, from.reads, "reads")
	value, ok := from.values[s].(T)
	return value, ok
}

// Value returns the value, or the zero value if no step of this pass has put one.
func (s *Slot[T]) Value(from *Slots) T {
	value, _ := s.Get(from)
	return value
}

// Slots hold the values handed on in one pass. The scope of a pipeline that uses slots
// embeds a pointer to it. The zero value is empty and unrestricted; the engine restricts
// access to the declarations of the running step.
type Slots struct {
	values map[Value]any
	step   string
	// sets and reads are the declarations of the running step. They apply while step is
	// set.
	sets, reads []Value
}

// HandedOn returns the slots themselves, for a scope that embeds them.
func (s *Slots) HandedOn() *Slots { return s }

func (s *Slots) put(slot Value, value any) {
	if s.values == nil {
		s.values = map[Value]any{}
	}
	s.values[slot] = value
}

// enter restricts the slots to the step's declarations. A step may read what it sets.
func (s *Slots) enter(step string, sets, reads []Value) {
	s.step, s.sets, s.reads = step, sets, slices.Concat(sets, reads)
}

func (s *Slots) leave() { s.step = "" }

// check panics on undeclared use. That is a bug in the operator, which shows in every run
// of the step.
func (s *Slots) check(slot Value, declared []Value, verb string) {
	if s.step != "" && !slices.Contains(declared, slot) {
		panic(fmt.Sprintf("step %s %s %s and does not declare it", s.step, verb, slot.Name()))
	}
}
