// Package report turns the content of a namespace into what a user has to know: what
// a ControlPlane or a service waits for, and where to look. It makes no request.
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

// Report describes a ControlPlane or a service.
type Report struct {
	Target inventory.Ref `json:"target"`
	Ready  bool          `json:"ready"`
	// Since is when it last became ready or unready.
	Since *metav1.Time `json:"since,omitempty"`
	// Release is the installed one, and TargetRelease and Phase are set during
	// an upgrade.
	Release       string `json:"release,omitempty"`
	TargetRelease string `json:"targetRelease,omitempty"`
	Phase         string `json:"phase,omitempty"`
	Endpoint      string `json:"endpoint,omitempty"`

	// Causes are the root causes that prevent it from being ready.
	Causes []Cause `json:"causes,omitempty"`
	// Warnings do not prevent it from being ready.
	Warnings []Cause `json:"warnings,omitempty"`
	// LookAt are the objects that explain the causes.
	LookAt []Exhibit `json:"lookAt,omitempty"`
	// Next are commands that show more, and one that waits.
	Next []string `json:"next,omitempty"`

	Conditions []metav1.Condition `json:"conditions"`
	Tree       Node               `json:"tree"`
	// Gaps list what the user may not read.
	Gaps []string `json:"gaps,omitempty"`
}

// builder reads the inventory.
type builder struct{ *inventory.Inventory }

// Build describes the object that the reference names. The object has to be in
// the inventory.
func Build(found *inventory.Inventory, ref inventory.Ref) (*Report, error) {
	b := &builder{found}
	r := &Report{Target: ref, Gaps: texts(found.Gaps)}
	switch obj := found.Find(ref).(type) {
	case *c5c3v1alpha1.ControlPlane:
		b.describeControlPlane(r, obj)
	case inventory.Service:
		b.describeService(r, obj)
	default:
		return nil, fmt.Errorf("there is no %s in namespace %s", ref.Arg(), ref.Namespace)
	}
	if !r.Ready {
		r.LookAt = exhibits(r.Tree, r.Causes)
		r.Next = next(r)
	}
	return r, nil
}

func texts(gaps []error) (all []string) {
	for _, gap := range gaps {
		all = append(all, gap.Error())
	}
	return all
}

// next returns the commands that show more than the report.
func next(r *Report) []string {
	var commands []string
	if slices.ContainsFunc(r.Causes, func(c Cause) bool { return c.Reason == ReasonNotObserved }) {
		commands = append(commands, "kubectl forge doctor -n "+r.Target.Namespace)
	}
	for _, exhibit := range r.LookAt {
		commands = append(commands, exhibit.command(r.Target.Namespace))
	}
	return append(commands, fmt.Sprintf("kubectl forge wait %s -n %s", r.Target.Arg(), r.Target.Namespace))
}

func (b *builder) describeControlPlane(r *Report, cp *c5c3v1alpha1.ControlPlane) {
	r.Ready, r.Since = readiness(cp)
	r.Conditions, r.Tree = cp.Status.Conditions, b.tree(cp)
	for _, service := range cp.Status.Services {
		// In the middle of an update the services have different ones.
		if service.Release != "" && (r.Release == "" || service.Release < r.Release) {
			r.Release = service.Release
		}
	}
	if phase := cp.Status.UpdatePhase; phase != "" && phase != c5c3v1alpha1.UpdatePhaseIdle {
		r.Phase, r.TargetRelease = string(phase), cp.Spec.OpenStackRelease
	}
	for _, service := range b.ServicesOf(cp) {
		// Clients find the others in the catalog of the Identity service.
		if service.Of.Kind == inventory.KindKeystone {
			r.Endpoint = service.ServiceStatus().Endpoint
		}
		r.Warnings = append(r.Warnings, warnings(service)...)
	}
	if !r.Ready {
		r.Causes = b.controlPlaneCauses(cp)
	}
}

func (b *builder) describeService(r *Report, service inventory.Service) {
	status := service.ServiceStatus()
	r.Ready, r.Since = readiness(service)
	r.Conditions, r.Tree = status.Conditions, b.tree(service)
	r.Release, r.TargetRelease = status.InstalledRelease, status.TargetRelease
	r.Phase, r.Endpoint = string(status.UpgradePhase), status.Endpoint
	r.Causes, r.Warnings = serviceCauses(service), warnings(service)
}

// readiness reports whether the condition Ready is True for the current spec, and
// since when that is so.
func readiness(obj inventory.Conditioned) (bool, *metav1.Time) {
	ready := meta.FindStatusCondition(obj.GetConditions(), vocabulary.ConditionReady)
	if ready == nil {
		created := obj.GetCreationTimestamp()
		return false, &created
	}
	return ready.Status == metav1.ConditionTrue && inventory.IsCurrent(obj), &ready.LastTransitionTime
}

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

func serviceCauses(service inventory.Service) []Cause {
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
	cause := Cause{Object: self.Arg(), Condition: vocabulary.ConditionReady, Reason: ReasonNotObserved}
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
		cause.Message = fmt.Sprintf("%s has not observed generation %d of the spec yet: if that persists, check that it runs",
			inventory.OperatorOf(self.Kind), obj.GetGeneration())
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
		Since:   condition.LastTransitionTime.DeepCopy(),
		Stalled: stalled != nil && stalled.Status == metav1.ConditionTrue && stalled.Reason == condition.Reason,
	}
}

// warnings are the conditions of a service that are False without counting for Ready,
// and what the condition of its API adds to the statement that it answers: that it
// works without its cache.
func warnings(service inventory.Service) (found []Cause) {
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
