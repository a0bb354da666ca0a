package reconcile

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

const pausedMessage = "The operator leaves everything as it is until the annotation " + vocabulary.AnnotationPaused +
	" is removed. Deleting the resource still removes what belongs to it"

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
	if !equality.Semantic.DeepEqual(p.before, p.obj.StatusCopy()) {
		if err := apply.UpdateStatus(ctx, p.Client, p.obj); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		if meta.FindStatusCondition(p.previous, vocabulary.ConditionPaused) == nil {
			p.tell(vocabulary.EventPaused, "Paused by the annotation "+vocabulary.AnnotationPaused)
		}
	}
	return ctrl.Result{}, failure
}

// resume prepares the pass over a resource that was paused before.
func (p *pass[T, S]) resume(ctx context.Context) error {
	conditions := p.obj.GetConditions()
	if !meta.RemoveStatusCondition(&conditions, vocabulary.ConditionPaused) {
		return nil
	}
	if p.Resume != nil {
		if err := p.Resume(ctx, p.obj); err != nil {
			return err
		}
	}
	p.obj.SetConditions(conditions)
	p.tell(vocabulary.EventResumed, "The annotation "+vocabulary.AnnotationPaused+" is gone")
	return nil
}

func (p *pass[T, S]) tell(event, note string) {
	p.Recorder.Eventf(p.obj, nil, corev1.EventTypeNormal, event, "Pause", "%s", note)
}
