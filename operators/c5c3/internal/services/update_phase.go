package services

import (
	"slices"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// updatePhases are the phases in ascending precedence: the highest phase of all services
// is shown.
var updatePhases = []c5c3v1alpha1.UpdatePhase{
	c5c3v1alpha1.UpdatePhaseIdle, c5c3v1alpha1.UpdatePhaseVerifying, c5c3v1alpha1.UpdatePhaseUpdating,
	c5c3v1alpha1.UpdatePhaseUpdatingServices, c5c3v1alpha1.UpdatePhaseRollingBack,
}

// update is what a pass knows about the update of its control plane: the phase in the
// previous status, and those of the services processed so far, by name.
type update struct {
	previous c5c3v1alpha1.UpdatePhase
	phases   map[string]c5c3v1alpha1.UpdatePhase
}

// updateUnderWay is handed from the step of one service to that of the next.
var updateUnderWay = reconcile.NewSlot[update]("Update")

// setPhase combines the phases of the services. An update only ends once the pass has
// processed all of them.
func (all List) setPhase(s *pass.Pass, svc Service, phase func(previous c5c3v1alpha1.UpdatePhase) c5c3v1alpha1.UpdatePhase) {
	known, begun := updateUnderWay.Get(s.Slots)
	if !begun {
		known = update{previous: s.CP.Status.UpdatePhase, phases: map[string]c5c3v1alpha1.UpdatePhase{}}
		updateUnderWay.Put(s.Slots, known)
	}
	known.phases[svc.name] = phase(known.previous)
	sum, complete := 0, true
	for _, other := range all.wantedBy(s.CP) {
		phase, seen := known.phases[other.name]
		sum, complete = max(sum, slices.Index(updatePhases, phase)), complete && seen
	}
	if sum > 0 || complete || known.previous == "" {
		s.CP.Status.UpdatePhase = updatePhases[sum]
	}
}

// updatePhase derives the phase of an update from the resource of a service: its wanted
// release, its installed release, and its ongoing upgrade. The previous phase only
// matters for the end of an update, since a service may be unready for other reasons.
func updatePhase(previous c5c3v1alpha1.UpdatePhase, child child) c5c3v1alpha1.UpdatePhase {
	status := child.ServiceStatus()
	wanted, installed, target := child.ServiceSpec().Image.Tag, status.InstalledRelease, status.TargetRelease
	switch {
	case installed == "":
		return c5c3v1alpha1.UpdatePhaseIdle
	case refusesRollBack(child):
		return c5c3v1alpha1.UpdatePhaseUpdatingServices
	case target != "" && wanted == installed:
		return c5c3v1alpha1.UpdatePhaseRollingBack
	case wanted != installed && (target == wanted || previous == c5c3v1alpha1.UpdatePhaseUpdatingServices):
		return c5c3v1alpha1.UpdatePhaseUpdatingServices
	case wanted != installed:
		return c5c3v1alpha1.UpdatePhaseUpdating
	case isReady(child) || previous == "" || previous == c5c3v1alpha1.UpdatePhaseIdle:
		return c5c3v1alpha1.UpdatePhaseIdle
	case previous == c5c3v1alpha1.UpdatePhaseRollingBack:
		return c5c3v1alpha1.UpdatePhaseRollingBack
	}
	return c5c3v1alpha1.UpdatePhaseVerifying
}
