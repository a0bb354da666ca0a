package report

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// Reasons of causes that are not conditions.
const (
	// ReasonNotObserved means that no operator has observed the spec.
	ReasonNotObserved = "NotObserved"
	// ReasonDeleting means that the object waits for its finalizers.
	ReasonDeleting = "Deleting"
)

func (b *builder) controlPlaneCauses(cp *c5c3v1alpha1.ControlPlane) []Cause {
	self := inventory.Ref{Kind: inventory.KindControlPlane, Namespace: cp.Namespace, Name: cp.Name}
	var causes []Cause
	for _, cause := range conditionCauses(self, cp, cp.Status.Conditions, cp.Status.ObservedGeneration) {
		if deeper := b.deeperCauses(cp, cause); len(deeper) > 0 {
			causes = append(causes, deeper...)
		} else {
			causes = append(causes, cause)
		}
	}
	return causes
}

// deeperCauses returns the causes of the service that a condition of a ControlPlane only
// repeats, none if it has a cause of its own.
func (b *builder) deeperCauses(cp *c5c3v1alpha1.ControlPlane, cause Cause) []Cause {
	for _, service := range b.ServicesOf(cp) {
		kind := service.Of.Kind
		if cause.Condition == kind+"Ready" && (cause.Reason == "WaitingFor"+kind || cause.Reason == "Finalizing"+kind) {
			return serviceCauses(service)
		}
	}
	return nil
}

func serviceCauses(service inventory.Service) []Cause {
	status := service.ServiceStatus()
	if ready, _ := readiness(service, status.Conditions, status.ObservedGeneration); ready {
		return nil
	}
	informational := service.Of.Informational()
	var aggregated []metav1.Condition
	for _, condition := range status.Conditions {
		if !slices.Contains(informational, condition.Type) {
			aggregated = append(aggregated, condition)
		}
	}
	return conditionCauses(service.Ref(), service, aggregated, status.ObservedGeneration)
}

// conditionCauses returns the conditions that are False and not a consequence of
// another one. If there is none, it returns the summary.
func conditionCauses(self inventory.Ref, obj metav1.Object, conditions []metav1.Condition, observed int64) []Cause {
	if cause := lifecycleCause(self, obj, conditions, observed); cause != nil {
		return []Cause{*cause}
	}
	stalled := meta.FindStatusCondition(conditions, vocabulary.ConditionStalled)
	var causes []Cause
	for _, condition := range conditions {
		if condition.Status == metav1.ConditionTrue || slices.Contains(inventory.Summaries, condition.Type) || heldBack(condition, conditions) {
			continue
		}
		causes = append(causes, newCause(self, condition, stalled))
	}
	if ready := meta.FindStatusCondition(conditions, vocabulary.ConditionReady); len(causes) == 0 && ready != nil {
		causes = append(causes, newCause(self, *ready, stalled))
	}
	return causes
}

// lifecycleCause returns the cause that lies in the lifecycle of the object, nil if its
// conditions are more specific.
func lifecycleCause(self inventory.Ref, obj metav1.Object, conditions []metav1.Condition, observed int64) *Cause {
	cause := &Cause{Object: self.Arg(), Condition: vocabulary.ConditionReady, owner: self}
	switch {
	case obj.GetDeletionTimestamp() != nil:
		cause.Reason, cause.Since = ReasonDeleting, obj.GetDeletionTimestamp()
		cause.Message = "It is being deleted and waits for its finalizers " + strings.Join(obj.GetFinalizers(), ", ")
		for _, condition := range conditions {
			if condition.Status == metav1.ConditionFalse && !slices.Contains(inventory.Summaries, condition.Type) {
				cause.Message += fmt.Sprintf("; %s: %s", condition.Type, condition.Message)
			}
		}
		return cause
	case len(conditions) == 0:
		created := obj.GetCreationTimestamp()
		cause.Reason, cause.Since = ReasonNotObserved, &created
		cause.Message = "No operator has observed it yet: check that its operator runs and watches this namespace"
		return cause
	case observed < obj.GetGeneration():
		cause.Reason = ReasonNotObserved
		cause.Message = fmt.Sprintf("The operator has observed generation %d of the spec, but not yet %d: if that persists, check that it runs",
			observed, obj.GetGeneration())
		return cause
	}
	return nil
}

// heldBack reports whether the condition only waits for another one that is
// also False.
func heldBack(condition metav1.Condition, conditions []metav1.Condition) bool {
	awaited, found := strings.CutPrefix(condition.Message, "Waiting for ")
	return found && meta.IsStatusConditionFalse(conditions, awaited)
}

func newCause(self inventory.Ref, condition metav1.Condition, stalled *metav1.Condition) Cause {
	return Cause{
		Object: self.Arg(), Condition: condition.Type, Reason: condition.Reason, Message: condition.Message,
		Since: condition.LastTransitionTime.DeepCopy(), owner: self,
		Stalled: stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == condition.Reason,
	}
}

// warnings are the conditions of a service that are False without counting for Ready,
// and what the condition of its API adds to the statement that it answers: that it
// works without its cache.
func warnings(service inventory.Service) []Cause {
	self, informational := service.Ref(), service.Of.Informational()
	var found []Cause
	for _, condition := range service.GetConditions() {
		if condition.Status == metav1.ConditionFalse && slices.Contains(informational, condition.Type) {
			found = append(found, newCause(self, condition, nil))
		}
		_, remark, remarked := strings.Cut(condition.Message, "; ")
		if condition.Type == keystonev1alpha1.ConditionKeystoneAPIReady && condition.Status == metav1.ConditionTrue && remarked {
			condition.Reason, condition.Message = keystonev1alpha1.ReasonCacheUnavailable, remark
			// When that began is not known: the condition is True for longer.
			warning := newCause(self, condition, nil)
			warning.Since = nil
			found = append(found, warning)
		}
	}
	return found
}

// readiness reports whether the condition Ready is True for the current spec, and
// since when that is so.
func readiness(obj metav1.Object, conditions []metav1.Condition, observed int64) (bool, *metav1.Time) {
	ready := meta.FindStatusCondition(conditions, vocabulary.ConditionReady)
	if ready == nil {
		created := obj.GetCreationTimestamp()
		return false, &created
	}
	current := observed == obj.GetGeneration() && obj.GetDeletionTimestamp() == nil
	return current && ready.Status == metav1.ConditionTrue, &ready.LastTransitionTime
}
