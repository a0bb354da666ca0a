package reconcile

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

const pausedMessage = "The operator leaves everything as it is until the annotation " + vocabulary.AnnotationPaused +
	" is removed. Deleting the resource still removes what belongs to it"

// pausing is what the events name as the action.
var pausing = stepResult{name: "Pause"}

// pause reports that the resource is paused, once what goes on by itself is suspended.
func (p *pass[T, S]) pause(ctx context.Context) (ctrl.Result, error) {
	message, failure := pausedMessage, error(nil)
	if p.Suspend != nil {
		if failure = p.Suspend(ctx, p.obj); failure != nil {
			message = fmt.Sprintf("%s. Suspending its schedules failed: %v", pausedMessage, failure)
		}
	}
	conditions := p.obj.GetConditions()
	setCondition(&conditions, p.obj.GetGeneration(), vocabulary.ConditionPaused, metav1.ConditionTrue, vocabulary.ReasonPaused, message)
	p.obj.SetConditions(conditions)
	written, err := p.writeStatus(ctx)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if written && !p.wasPaused() {
		p.emit(corev1.EventTypeNormal, vocabulary.EventPaused, pausing, "Paused by the annotation "+vocabulary.AnnotationPaused)
	}
	return ctrl.Result{}, failure
}

// resume prepares the pass over a resource that was paused before.
func (p *pass[T, S]) resume(ctx context.Context) error {
	if !p.wasPaused() {
		return nil
	}
	if p.Resume != nil {
		if err := p.Resume(ctx, p.obj); err != nil {
			return err
		}
	}
	conditions := p.obj.GetConditions()
	meta.RemoveStatusCondition(&conditions, vocabulary.ConditionPaused)
	p.obj.SetConditions(conditions)
	p.emit(corev1.EventTypeNormal, vocabulary.EventResumed, pausing, "The annotation "+vocabulary.AnnotationPaused+" is gone")
	return nil
}

// wasPaused reports whether the stored status says that the resource is paused.
func (p *pass[T, S]) wasPaused() bool {
	return meta.FindStatusCondition(p.previous, vocabulary.ConditionPaused) != nil
}
