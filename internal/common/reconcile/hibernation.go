package reconcile

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Hibernation stops what resources run and keeps their data.
type Hibernation[T any] struct {
	// Wanted reports whether the spec asks for it.
	Wanted func(T) bool
	// Busy returns what has to end first, as in "the upgrade to 2025.2", "" for nothing. Until
	// then the resource is reconciled as any other.
	Busy func(T) string
	// Stop stops what the resource runs, and returns what of it still runs, "" for nothing, and
	// remarks on what cannot be stopped.
	Stop func(ctx context.Context, obj T) (running string, remarks []string, err error)
	// Wake starts again what the deletion of a resource needs, if it is stopped. It may be nil.
	Wake func(ctx context.Context, obj T) error
}

// Stoppable declares how the objects of one kind are stopped, which the resource controls.
type Stoppable struct {
	// Object is an empty object of the kind, which the controller watches.
	Object client.Object
	// Spec has the fields that stop an object, and IsStopped reports whether it has them. An
	// annotation says who has set them: the step that applies the object withdraws both.
	Spec      map[string]any
	IsStopped func(client.Object) bool
	// Running returns what of a stopped object still runs, "" for nothing. It may be nil.
	Running func(client.Object) string
	// Unstoppable returns why an object cannot be stopped, "" if it can. It may be nil.
	Unstoppable func(client.Object) string
	// After returns what has to end before an object is stopped, "" for nothing. It may be nil.
	After func(ctx context.Context, c client.Reader, owner client.Object) (string, error)
	// MayRefuse lets those after it stop if the API server does not let this one: another
	// version of its operator may have other rules.
	MayRefuse bool
}

const hibernatedMessage = "Everything that the resource runs is stopped while spec.hibernation is true; its data and keys stay"

// hibernates reports whether the resource has to stop, or is kept from it by what has to end
// first.
func (p *pass[T, S]) hibernates() (now bool, after string) {
	if p.Hibernation == nil || !p.Hibernation.Wanted(p.obj) {
		return false, ""
	}
	after = p.Hibernation.Busy(p.obj)
	return after == "", after
}

// hibernate stops what the resource runs. What it says about that is all its status says:
// nothing else is checked meanwhile.
func (p *pass[T, S]) hibernate(ctx context.Context) (ctrl.Result, error) {
	p.forget(client.ObjectKeyFromObject(p.obj))
	running, remarks, err := p.Hibernation.Stop(ctx, p.obj)
	outcome := Degraded(vocabulary.ReasonHibernated, strings.Join(append([]string{hibernatedMessage}, remarks...), ". ")).
		OnTransition(corev1.EventTypeNormal, vocabulary.EventHibernated, "Stopped by spec.hibernation")
	switch {
	case err != nil:
		outcome = WriteFailed(vocabulary.ReasonHibernating, err)
	case running != "":
		outcome = Waiting(vocabulary.ReasonHibernating, "The resource hibernates once nothing of it runs: "+running)
	}
	p.obj.SetConditions(slices.DeleteFunc(p.obj.GetConditions(), func(c metav1.Condition) bool { return c.Type != vocabulary.ConditionReady }))
	if p.Summarise != nil {
		p.Summarise(p.obj)
	}
	return p.leaveAlone(ctx, outcome)
}

// wake starts what a resource that has hibernated needs to be deleted.
func (p *pass[T, S]) wake(ctx context.Context) error {
	p.restate()
	if p.Hibernation == nil || p.Hibernation.Wake == nil {
		return nil
	}
	return p.Hibernation.Wake(ctx, p.obj)
}

// IsHibernated reports whether nothing of the resource runs, as its last status says.
func IsHibernated(conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, vocabulary.ConditionReady)
	return ready != nil && ready.Reason == vocabulary.ReasonHibernated
}

// restate has Ready count its time anew once the resource no longer hibernates: it is False
// for another reason then.
func (p *pass[T, S]) restate() {
	conditions := p.obj.GetConditions()
	if !vocabulary.Hibernates(conditions) {
		return
	}
	meta.RemoveStatusCondition(&conditions, vocabulary.ConditionReady)
	p.obj.SetConditions(conditions)
}
