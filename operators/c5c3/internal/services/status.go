package services

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// observe records a service in the status of the control plane, and for the next steps where users log in.
func (all List) observe(s *pass.Pass, svc Service, child child) {
	status := child.ServiceStatus()
	all.setStatus(s.CP, svc, &c5c3v1alpha1.ServiceStatus{
		Name: svc.name, Release: status.InstalledRelease, OverriddenOptions: slices.Clone(status.OverriddenOptions),
	})
	all.setPhase(s, svc, func(previous c5c3v1alpha1.UpdatePhase) c5c3v1alpha1.UpdatePhase { return updatePhase(previous, child) })
	if svc.domains != nil {
		identityDomains.Put(s.Slots, svc.domains(child))
	}
}

// observeNone records that the control plane does not have the service.
func (all List) observeNone(s *pass.Pass, svc Service) {
	all.setStatus(s.CP, svc, nil)
	all.setPhase(s, svc, func(c5c3v1alpha1.UpdatePhase) c5c3v1alpha1.UpdatePhase { return c5c3v1alpha1.UpdatePhaseIdle })
}

// setStatus replaces the status of the service, or removes it if now is nil. The services
// are in the order of the list.
func (all List) setStatus(cp *c5c3v1alpha1.ControlPlane, svc Service, now *c5c3v1alpha1.ServiceStatus) {
	var statuses []c5c3v1alpha1.ServiceStatus
	for _, other := range all {
		known := slices.IndexFunc(cp.Status.Services, func(status c5c3v1alpha1.ServiceStatus) bool { return status.Name == other.name })
		switch {
		case other.name != svc.name && known >= 0:
			statuses = append(statuses, cp.Status.Services[known])
		case other.name == svc.name && now != nil:
			statuses = append(statuses, *now)
		}
	}
	cp.Status.Services = statuses
}

// Summarise completes the status of a pass that did not reach the services: a service is
// ready if its condition is True.
func (all List) Summarise(cp *c5c3v1alpha1.ControlPlane) {
	cp.Status.UpdatePhase = cmp.Or(cp.Status.UpdatePhase, c5c3v1alpha1.UpdatePhaseIdle)
	for _, svc := range all {
		for i := range cp.Status.Services {
			if status := &cp.Status.Services[i]; status.Name == svc.name {
				status.Ready = meta.IsStatusConditionTrue(cp.Status.Conditions, svc.condition)
			}
		}
	}
}
