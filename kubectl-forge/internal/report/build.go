package report

import (
	"fmt"

	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
)

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

func (b *builder) describeControlPlane(r *Report, cp *c5c3v1alpha1.ControlPlane) {
	r.Ready, r.Since = readiness(cp, cp.Status.Conditions, cp.Status.ObservedGeneration)
	r.Conditions = cp.Status.Conditions
	r.Release = oldestRelease(cp.Status.Services)
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

// oldestRelease returns the release that all services have at least: in the middle of an
// update they have different ones.
func oldestRelease(services []c5c3v1alpha1.ServiceStatus) (oldest string) {
	for _, service := range services {
		if service.Release != "" && (oldest == "" || service.Release < oldest) {
			oldest = service.Release
		}
	}
	return oldest
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
