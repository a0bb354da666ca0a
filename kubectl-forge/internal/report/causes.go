package report

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// summaries are conditions that only repeat others. Both operators use the same
// names.
var summaries = []string{
	keystonev1alpha1.ConditionReady, keystonev1alpha1.ConditionReconciling, keystonev1alpha1.ConditionStalled,
}

// informational are the conditions of a Keystone that do not affect Ready.
var informational = []string{keystonev1alpha1.ConditionBackupHealthy, keystonev1alpha1.ConditionLoggingHealthy}

// handsOver are the reasons of a ControlPlane's conditions that only repeat those of
// its Keystone.
var handsOver = []string{c5c3v1alpha1.ReasonWaitingForKeystone, c5c3v1alpha1.ReasonFinalizingKeystone}

func (b *builder) controlPlaneCauses(cp *c5c3v1alpha1.ControlPlane) []Cause {
	self := inventory.Ref{Kind: inventory.KindControlPlane, Namespace: cp.Namespace, Name: cp.Name}
	var causes []Cause
	for _, cause := range conditionCauses(self, cp, cp.Status.Conditions, cp.Status.ObservedGeneration) {
		keystone := b.Keystone(cp.KeystoneName())
		if cause.Condition == c5c3v1alpha1.ConditionKeystoneReady && slices.Contains(handsOver, cause.Reason) && keystone != nil {
			if deeper := b.keystoneCauses(keystone); len(deeper) > 0 {
				causes = append(causes, deeper...)
				continue
			}
		}
		causes = append(causes, cause)
	}
	return causes
}

func (b *builder) keystoneCauses(k *keystonev1alpha1.Keystone) []Cause {
	self := inventory.Ref{Kind: inventory.KindKeystone, Namespace: k.Namespace, Name: k.Name}
	if ready, _ := readiness(k, k.Status.Conditions, k.Status.ObservedGeneration); ready {
		return nil
	}
	return conditionCauses(self, k, k.Status.Conditions, k.Status.ObservedGeneration)
}

// conditionCauses returns the conditions that are False and not a consequence of
// another one. If there is none, it returns the summary.
func conditionCauses(self inventory.Ref, obj metav1.Object, conditions []metav1.Condition, observed int64) []Cause {
	if cause := lifecycleCause(self, obj, conditions, observed); cause != nil {
		return []Cause{*cause}
	}
	stalled := meta.FindStatusCondition(conditions, keystonev1alpha1.ConditionStalled)
	var causes []Cause
	for _, condition := range conditions {
		if condition.Status == metav1.ConditionTrue || slices.Contains(summaries, condition.Type) ||
			slices.Contains(informational, condition.Type) || heldBack(condition, conditions) {
			continue
		}
		causes = append(causes, newCause(self, condition, stalled))
	}
	if ready := meta.FindStatusCondition(conditions, keystonev1alpha1.ConditionReady); len(causes) == 0 && ready != nil {
		causes = append(causes, newCause(self, *ready, stalled))
	}
	return causes
}

// lifecycleCause returns the cause that lies in the lifecycle of the object, nil if its
// conditions are more specific.
func lifecycleCause(self inventory.Ref, obj metav1.Object, conditions []metav1.Condition, observed int64) *Cause {
	cause := &Cause{Object: self.Arg(), Condition: keystonev1alpha1.ConditionReady, owner: self}
	switch {
	case obj.GetDeletionTimestamp() != nil:
		cause.Reason, cause.Since = ReasonDeleting, obj.GetDeletionTimestamp()
		cause.Message = "It is being deleted and waits for its finalizers " + strings.Join(obj.GetFinalizers(), ", ")
		for _, condition := range conditions {
			if condition.Status == metav1.ConditionFalse && !slices.Contains(summaries, condition.Type) {
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

// warnings are the conditions of a Keystone that are False without counting for
// Ready, and what the API's condition says besides that it answers: that it does
// without its cache.
func (b *builder) warnings(k *keystonev1alpha1.Keystone) []Cause {
	self := inventory.Ref{Kind: inventory.KindKeystone, Namespace: k.Namespace, Name: k.Name}
	var found []Cause
	for _, condition := range k.Status.Conditions {
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
