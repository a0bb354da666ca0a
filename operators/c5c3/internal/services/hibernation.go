package services

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Stops declares how the services of a control plane hibernate, those that others need last.
func (all List) Stops() []reconcile.Stoppable {
	stops := make([]reconcile.Stoppable, 0, len(all))
	for _, svc := range slices.Backward(all) {
		stops = append(stops, svc.hibernation())
	}
	return stops
}

func (svc Service) hibernation() reconcile.Stoppable {
	return reconcile.Stoppable{
		Object: svc.Empty(),
		Spec:   map[string]any{"hibernation": true},
		IsStopped: func(obj client.Object) bool {
			resource, ok := obj.(child)
			return ok && ptr.Deref(resource.ServiceSpec().Hibernation, false)
		},
		Running: func(obj client.Object) string {
			resource, ok := obj.(child)
			if !ok {
				return ""
			}
			ready := meta.FindStatusCondition(resource.GetConditions(), vocabulary.ConditionReady)
			switch {
			case vocabulary.IsPaused(resource):
				return svc.Kind.Kind + " " + resource.GetName() + " is paused: resume it"
			case ready == nil || ready.ObservedGeneration != resource.GetGeneration():
				return svc.Kind.Kind + " " + resource.GetName() + " stops"
			case ready.Reason != vocabulary.ReasonHibernated:
				return svc.Kind.Kind + " " + resource.GetName() + ": " + ready.Message
			}
			return ""
		},
	}
}
