package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Pipeline is the ordered list of steps of one controller.
type Pipeline[S any] []Step[S]

// Validate reports declaration errors: duplicate names, steps without a condition or
// function, needs that are not declared earlier, reads that no earlier step sets, and
// Ready alongside other conditions.
func (p Pipeline[S]) Validate() error {
	seen, set := map[string]bool{}, map[Value]bool{}
	for _, step := range p {
		switch {
		case step.Name == "" || step.Condition == "" || step.Run == nil:
			return fmt.Errorf("step %q must have a name, a condition and a function", step.Name)
		case seen[step.Name]:
			return fmt.Errorf("step %q is declared twice", step.Name)
		}
		for _, need := range step.Needs {
			if !seen[need] {
				return fmt.Errorf("step %q needs %q, which is not declared before it", step.Name, need)
			}
		}
		for _, value := range step.Reads {
			if !set[value] {
				return fmt.Errorf("step %q reads %q, which no step before it sets", step.Name, value.Name())
			}
		}
		for _, value := range step.Sets {
			set[value] = true
		}
		seen[step.Name] = true
	}
	if types := p.Conditions(); len(types) > 1 && slices.Contains(types, vocabulary.ConditionReady) {
		return fmt.Errorf("%s sums up the conditions %s and cannot be a step's", vocabulary.ConditionReady, strings.Join(types, ", "))
	}
	return nil
}

// Conditions returns the condition types that affect Ready, in step order.
func (p Pipeline[S]) Conditions() []string {
	var types []string
	for _, step := range p {
		if !step.Informational && !slices.Contains(types, step.Condition) {
			types = append(types, step.Condition)
		}
	}
	return types
}

// run executes the steps in declared order in this goroutine: deterministic,
// easy to follow in a log, and cheap because reads come from caches. A step
// that waits or fails blocks only the steps that depend on it.
func (p Pipeline[S]) run(ctx context.Context, scope S, metrics *Metrics) []stepResult {
	results := make([]stepResult, 0, len(p))
	open := map[string]bool{}
	for _, step := range p {
		result := stepResult{name: step.Name, condition: step.Condition, announce: step.Announce, informational: step.Informational}
		if i := slices.IndexFunc(step.Needs, func(need string) bool { return !open[need] }); i >= 0 {
			result.skipped, result.heldBack = step.Needs[i], step.HeldBack
			results = append(results, result)
			continue
		}
		started := time.Now()
		stepCtx := log.IntoContext(ctx, log.FromContext(ctx).WithValues("step", step.Name))
		result.outcome = during(scope, step, func() Outcome { return step.Run(stepCtx, scope) }).normalised()
		if !step.Informational {
			// Terminal errors are reported by the resource; they are not failures of the
			// operator.
			failed := result.outcome.verdict == verdictFailed && !result.namespaceGoes()
			metrics.Observe(step.Name, step.Condition, time.Since(started), failed)
		}
		open[step.Name] = result.outcome.proceed
		results = append(results, result)
	}
	return results
}

// slotted is a scope with slots.
type slotted interface{ HandedOn() *Slots }

// during runs a step with the slots restricted to its declarations.
func during[S any](scope S, step Step[S], run func() Outcome) Outcome {
	if with, ok := any(scope).(slotted); ok {
		slots := with.HandedOn()
		slots.enter(step.Name, step.Sets, step.Reads)
		defer slots.leave()
	}
	return run()
}
