package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Length limits of the Kubernetes API, in bytes: of a condition message, and of
// the note of an event, beyond which the event is refused.
const (
	maxMessage = 32768
	maxNote    = 1024
)

// shorten cuts text to at most limit bytes.
func shorten(text string, limit int) string {
	const ellipsis = "…"
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit-len(ellipsis)], "") + ellipsis
}

// setCondition stamps one condition with the generation this pass observed.
func setCondition(conditions *[]metav1.Condition, generation int64, conditionType string,
	status metav1.ConditionStatus, reason, message string,
) {
	message = shorten(message, maxMessage)
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: message, ObservedGeneration: generation,
	})
}

// record writes the conditions of the steps that ran. A condition shared by
// several steps reports the first one that is not done or, if all are done, the first
// one that has a message. If one of its steps was blocked and none of the others
// reports a problem, the condition keeps the result of the last full run, with that
// run's generation, unless the step declares a reason for being blocked.
func record(conditions *[]metav1.Condition, generation int64, results []stepResult) {
	for _, group := range groupByCondition(results) {
		worst := slices.IndexFunc(group, func(r stepResult) bool { return r.skipped == "" && !r.outcome.IsDone() })
		if held := slices.IndexFunc(group, func(r stepResult) bool { return r.skipped != "" }); worst < 0 && held >= 0 {
			if reason := group[held].heldBack; reason != "" {
				setCondition(conditions, generation, group[held].condition, metav1.ConditionFalse, reason,
					"Waiting for "+conditionOf(results, group[held].skipped))
			}
			continue
		}
		outcome, status := group[max(slices.IndexFunc(group, speaks), 0)].outcome, metav1.ConditionTrue
		if worst >= 0 {
			outcome, status = group[worst].outcome, metav1.ConditionFalse
		}
		setCondition(conditions, generation, group[0].condition, status, outcome.reason, outcome.message)
	}
}

func speaks(r stepResult) bool { return r.outcome.message != "" }

// conditionOf returns the condition of the named step.
func conditionOf(results []stepResult, step string) string {
	for _, result := range results {
		if result.name == step {
			return result.condition
		}
	}
	return step
}

func groupByCondition(results []stepResult) [][]stepResult {
	var groups [][]stepResult
	index := map[string]int{}
	for _, result := range results {
		i, known := index[result.condition]
		if !known {
			i = len(groups)
			index[result.condition] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], result)
	}
	return groups
}

// aggregate computes Ready, unless a step owns it, and the kstatus conditions
// from Ready and the step results.
func aggregate(conditions *[]metav1.Condition, generation int64, types []string, results []stepResult) {
	if !slices.Contains(types, vocabulary.ConditionReady) {
		sumUp(conditions, generation, types, results)
	}
	ready := meta.FindStatusCondition(*conditions, vocabulary.ConditionReady)
	if ready == nil || ready.Status == metav1.ConditionTrue {
		meta.RemoveStatusCondition(conditions, vocabulary.ConditionReconciling)
		meta.RemoveStatusCondition(conditions, vocabulary.ConditionStalled)
		return
	}
	stalled := slices.IndexFunc(results, func(r stepResult) bool { return r.outcome.verdict == verdictTerminal && !r.informational })
	if stalled >= 0 {
		outcome := results[stalled].outcome
		setStalled(conditions, generation, outcome.reason, outcome.message)
		return
	}
	setCondition(conditions, generation, vocabulary.ConditionReconciling, metav1.ConditionTrue, vocabulary.ReasonProgressing, ready.Message)
	meta.RemoveStatusCondition(conditions, vocabulary.ConditionStalled)
}

// remark adds a remark about the spec to the message of Ready.
func remark(conditions []metav1.Condition, text string) {
	ready := meta.FindStatusCondition(conditions, vocabulary.ConditionReady)
	if ready != nil && text != "" && !strings.HasSuffix(ready.Message, text) {
		ready.Message = shorten(strings.TrimPrefix(ready.Message+". "+text, ". "), maxMessage)
	}
}

// sumUp computes Ready from the conditions that count. A missing condition, or
// one left over from an earlier generation, is not ready.
func sumUp(conditions *[]metav1.Condition, generation int64, types []string, results []stepResult) {
	var notReady []string
	for _, conditionType := range types {
		if text := unready(*conditions, generation, conditionType, results); text != "" {
			notReady = append(notReady, text)
		}
	}
	if len(notReady) == 0 {
		setCondition(conditions, generation, vocabulary.ConditionReady, metav1.ConditionTrue, vocabulary.ReasonAllReady,
			"All sub-resources are ready")
		return
	}
	message := "Not ready: " + strings.Join(notReady, "; ")
	setCondition(conditions, generation, vocabulary.ConditionReady, metav1.ConditionFalse, vocabulary.ReasonNotAllReady, message)
}

// setStalled marks a resource that makes no progress until the user acts.
func setStalled(conditions *[]metav1.Condition, generation int64, reason, message string) {
	setCondition(conditions, generation, vocabulary.ConditionStalled, metav1.ConditionTrue, reason, message)
	meta.RemoveStatusCondition(conditions, vocabulary.ConditionReconciling)
}

// unready returns why a condition does not count as ready, "" if it does.
func unready(conditions []metav1.Condition, generation int64, conditionType string, results []stepResult) string {
	condition := meta.FindStatusCondition(conditions, conditionType)
	if condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration == generation {
		return ""
	}
	if condition != nil && condition.Status != metav1.ConditionTrue && condition.ObservedGeneration == generation {
		return fmt.Sprintf("%s (%s: %s)", conditionType, condition.Reason, condition.Message)
	}
	for _, result := range results {
		if result.condition == conditionType && result.skipped != "" {
			return fmt.Sprintf("%s (waits for %s)", conditionType, result.skipped)
		}
	}
	return conditionType + " (not yet evaluated)"
}
