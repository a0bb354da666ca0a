package report

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

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
	case inventory.Instance:
		b.describeService(r, obj)
	default:
		return nil, fmt.Errorf("there is no %s in namespace %s", ref.Arg(), ref.Namespace)
	}
	if !r.Ready {
		r.LookAt = exhibits(r.Tree, r.Causes)
		r.Next = b.advice(r)
	}
	return r, nil
}

func texts(gaps []error) (all []string) {
	for _, gap := range gaps {
		all = append(all, gap.Error())
	}
	return all
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
		r.Overridden = append(r.Overridden, overridden(service)...)
	}
	if !r.Ready {
		r.Causes = b.controlPlaneCauses(cp)
	}
}

func (b *builder) describeService(r *Report, service inventory.Instance) {
	status := service.ServiceStatus()
	r.Ready, r.Since = readiness(service)
	r.Conditions, r.Tree = status.Conditions, b.tree(service)
	r.Release, r.TargetRelease = status.InstalledRelease, status.TargetRelease
	r.Phase, r.Endpoint = string(status.UpgradePhase), status.Endpoint
	r.Causes, r.Warnings, r.Overridden = serviceCauses(service), warnings(service), overridden(service)
}

// overridden describes the global options that have no effect on the service.
func overridden(service inventory.Instance) (all []string) {
	for _, option := range service.ServiceStatus().OverriddenOptions {
		all = append(all, fmt.Sprintf("%s: [%s] %s is overridden by %s", service.Ref().Arg(), option.Section, option.Option, option.By))
	}
	return all
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
