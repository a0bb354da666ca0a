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

// Cause is a condition that prevents something from being ready.
type Cause struct {
	// Object is the owner of the condition: the target or a part of it.
	Object    string       `json:"object"`
	Condition string       `json:"condition"`
	Reason    string       `json:"reason"`
	Message   string       `json:"message,omitempty"`
	Since     *metav1.Time `json:"since,omitempty"`
	// Stalled is set if waiting does not help.
	Stalled bool `json:"stalled,omitempty"`

	// owner is the ControlPlane or the service whose advice applies.
	owner inventory.Ref
}

// Reasons of causes that are not conditions.
const (
	// ReasonNotObserved means that no operator has observed the spec.
	ReasonNotObserved = "NotObserved"
	// ReasonDeleting means that the object waits for its finalizers.
	ReasonDeleting = "Deleting"
)

// controlPlaneCauses replaces a condition that only repeats a service by the causes of that service, unless
// that has none.
func (b *builder) controlPlaneCauses(cp *c5c3v1alpha1.ControlPlane) (causes []Cause) {
	for _, cause := range causesOf(inventory.PlaneRef(cp), cp, nil) {
		deeper := []Cause{cause}
		for _, service := range b.ServicesOf(cp) {
			kind := service.Of.Kind
			repeats := cause.Condition == kind+"Ready" && (cause.Reason == "WaitingFor"+kind || cause.Reason == "Finalizing"+kind)
			if found := serviceCauses(service); repeats && len(found) > 0 {
				deeper = found
			}
		}
		causes = append(causes, deeper...)
	}
	return causes
}

func serviceCauses(service inventory.Instance) []Cause {
	if ready, _ := readiness(service); ready {
		return nil
	}
	return causesOf(service.Ref(), service, service.Of.Informational())
}

// causesOf returns the conditions that are False and neither ignored nor a consequence of
// another one. If there is none, it returns the summary.
func causesOf(self inventory.Ref, obj inventory.Conditioned, ignored []string) (causes []Cause) {
	conditions := obj.GetConditions()
	if len(conditions) == 0 || !inventory.IsCurrent(obj) {
		return []Cause{lifecycleCause(self, obj)}
	}
	for _, condition := range conditions {
		if condition.Status != metav1.ConditionTrue && !slices.Contains(inventory.Summaries, condition.Type) &&
			!slices.Contains(ignored, condition.Type) && !heldBack(condition, conditions) {
			causes = append(causes, newCause(self, condition, conditions))
		}
	}
	if ready := meta.FindStatusCondition(conditions, vocabulary.ConditionReady); len(causes) == 0 && ready != nil {
		causes = append(causes, newCause(self, *ready, conditions))
	}
	return causes
}

// lifecycleCause returns the cause for an object whose conditions are not about its spec.
func lifecycleCause(self inventory.Ref, obj inventory.Conditioned) Cause {
	cause := Cause{Object: self.Arg(), Condition: vocabulary.ConditionReady, Reason: ReasonNotObserved, owner: self}
	switch conditions := obj.GetConditions(); {
	case obj.GetDeletionTimestamp() != nil:
		cause.Reason, cause.Since = ReasonDeleting, obj.GetDeletionTimestamp()
		cause.Message = "It is being deleted and waits for its finalizers " + strings.Join(obj.GetFinalizers(), ", ")
		for _, condition := range conditions {
			if condition.Status == metav1.ConditionFalse && !slices.Contains(inventory.Summaries, condition.Type) {
				cause.Message += fmt.Sprintf("; %s: %s", condition.Type, condition.Message)
			}
		}
	case len(conditions) == 0:
		created := obj.GetCreationTimestamp()
		cause.Since = &created
		cause.Message = "No operator has observed it yet: check that " + inventory.OperatorOf(self.Kind) + " runs and watches this namespace"
	default:
		cause.Message = fmt.Sprintf("%s has observed generation %d of the spec, but not yet %d: if that persists, check that it runs",
			inventory.OperatorOf(self.Kind), inventory.ObservedGeneration(obj), obj.GetGeneration())
	}
	return cause
}

// heldBack reports whether the condition only waits for another one that is
// also False.
func heldBack(condition metav1.Condition, conditions []metav1.Condition) bool {
	awaited, found := strings.CutPrefix(condition.Message, "Waiting for ")
	return found && meta.IsStatusConditionFalse(conditions, awaited)
}

func newCause(self inventory.Ref, condition metav1.Condition, conditions []metav1.Condition) Cause {
	stalled := meta.FindStatusCondition(conditions, vocabulary.ConditionStalled)
	return Cause{
		Object: self.Arg(), Condition: condition.Type, Reason: condition.Reason, Message: condition.Message,
		Since: condition.LastTransitionTime.DeepCopy(), owner: self,
		Stalled: stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == condition.Reason,
	}
}

// warnings are the conditions of a service that are False without counting for Ready,
// and what the condition of its API adds to the statement that it answers: that it
// works without its cache.
func warnings(service inventory.Instance) (found []Cause) {
	for _, condition := range service.GetConditions() {
		if condition.Status == metav1.ConditionFalse && slices.Contains(service.Of.Informational(), condition.Type) {
			found = append(found, newCause(service.Ref(), condition, nil))
		}
		_, remark, remarked := strings.Cut(condition.Message, "; ")
		if condition.Type == keystonev1alpha1.ConditionKeystoneAPIReady && condition.Status == metav1.ConditionTrue && remarked {
			// When that began is not known: the condition is True for longer.
			found = append(found, Cause{
				Object: service.Ref().Arg(), Condition: condition.Type, Reason: keystonev1alpha1.ReasonCacheUnavailable, Message: remark,
			})
		}
	}
	return found
}
