package services

import (
	"slices"

	"github.com/c5c3/forge/internal/common/reconcile"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
)

// updatePhases are the phases, from the one that any other of another service
// hides to the one that hides all others.
var updatePhases = []c5c3v1alpha1.UpdatePhase{
	c5c3v1alpha1.UpdatePhaseIdle, c5c3v1alpha1.UpdatePhaseVerifying, c5c3v1alpha1.UpdatePhaseUpdating,
	c5c3v1alpha1.UpdatePhaseUpdatingServices, c5c3v1alpha1.UpdatePhaseRollingBack,
}

// update is what a pass has found out about the update of its control plane: the
// phase that the pass before has left, and those of the services by name, as far
// as the pass has got.
type update struct {
	previous c5c3v1alpha1.UpdatePhase
	phases   map[string]c5c3v1alpha1.UpdatePhase
}

// updateUnderWay is what the step of one service hands to that of the next.
var updateUnderWay = reconcile.NewSlot[update]("Update")

// setPhase sums up the phases of the services. An update is not over before the
// pass has looked at all.
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

// updatePhase derives the phase of an update from the resource of a service: the
// image it was given, the release it has, and the upgrade it is in. Only for how
// an update ends the previous phase counts, since a service that is not ready for
// another reason is not being updated.
func updatePhase(previous c5c3v1alpha1.UpdatePhase, child child) c5c3v1alpha1.UpdatePhase {
	wanted, installed, target := child.WantedRelease(), child.InstalledRelease(), child.TargetRelease()
	switch {
	case installed == "":
		return c5c3v1alpha1.UpdatePhaseIdle
	case child.RefusesRollBack():
		return c5c3v1alpha1.UpdatePhaseUpdatingServices
	case target != "" && wanted == installed:
		return c5c3v1alpha1.UpdatePhaseRollingBack
	case wanted != installed && target == wanted:
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
