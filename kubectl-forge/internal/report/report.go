// Package report turns the content of a namespace into what a user has to know: what
// a ControlPlane or a service waits for, where to look and which command to run next. It
// makes no request.
package report

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
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
	// LookAt are the pods and Jobs that explain the causes.
	LookAt []Exhibit `json:"lookAt,omitempty"`
	// Next are commands to run, the most useful first.
	Next []string `json:"next,omitempty"`

	Conditions []metav1.Condition `json:"conditions"`
	Tree       Node               `json:"tree"`
	// Gaps list what the user may not read.
	Gaps []string `json:"gaps,omitempty"`
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

	// owner is the ControlPlane or the service whose advice applies.
	owner inventory.Ref
}

// Build describes the object that the reference names. The object has to be in
// the inventory.
func Build(found *inventory.Inventory, ref inventory.Ref) (*Report, error) {
	b := &builder{Inventory: found}
	r := &Report{Target: ref, Gaps: found.Gaps}
	cp, service := found.ControlPlane(ref.Name), found.Service(ref)
	switch {
	case ref.Kind == inventory.KindControlPlane && cp != nil:
		b.describeControlPlane(r, cp)
	case service != nil:
		b.describeService(r, *service)
	default:
		return nil, fmt.Errorf("there is no %s in namespace %s", ref.Arg(), ref.Namespace)
	}
	r.LookAt = b.exhibits(r)
	r.Next = b.advice(r)
	return r, nil
}

// builder reads the inventory.
type builder struct{ *inventory.Inventory }

func (b *builder) describeControlPlane(r *Report, cp *c5c3v1alpha1.ControlPlane) {
	r.Ready, r.Since = readiness(cp, cp.Status.Conditions, cp.Status.ObservedGeneration)
	r.Conditions = cp.Status.Conditions
	for _, service := range cp.Status.Services {
		r.Release = service.Release
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
	r.Tree = b.controlPlaneTree(cp)
}

func (b *builder) describeService(r *Report, service inventory.Service) {
	status := service.ServiceStatus()
	r.Ready, r.Since = readiness(service, status.Conditions, status.ObservedGeneration)
	r.Conditions = status.Conditions
	r.Release, r.TargetRelease = status.InstalledRelease, status.TargetRelease
	r.Phase, r.Endpoint = string(status.UpgradePhase), status.Endpoint
	if !r.Ready {
		r.Causes = serviceCauses(service)
	}
	r.Warnings = warnings(service)
	r.Tree = b.serviceTree(service)
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
