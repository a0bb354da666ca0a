package reconcile

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Reconcile runs one pass for the named resource. A lost race leads to a requeue;
// it is not an error worth a log line.
func (r *Reconciler[T, S]) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	result, err := r.runPass(ctx, request)
	if apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: r.races.Lost(request.NamespacedName)}, nil
	}
	r.races.Over(request.NamespacedName)
	return result, err
}

func (r *Reconciler[T, S]) runPass(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	obj := r.New()
	if err := r.Client.Get(ctx, request.NamespacedName, obj); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}
	pass := &pass[T, S]{Reconciler: r, obj: obj, before: obj.StatusCopy()}
	pass.previous = slices.Clone(obj.GetConditions())
	if !obj.GetDeletionTimestamp().IsZero() {
		return pass.finalize(ctx)
	}
	if vocabulary.IsPaused(obj) {
		return pass.pause(ctx)
	}
	if err := pass.resume(ctx); err != nil {
		return ctrl.Result{}, err
	}
	if r.Preflight != nil {
		if refusal, err := r.Preflight(ctx, obj); err != nil {
			return pass.leaveAlone(ctx, Failed(vocabulary.ReasonReconcileError, err))
		} else if refusal != (Refusal{}) {
			return pass.leaveAlone(ctx, Degraded(refusal.Reason, refusal.Message).Within(refusal.After))
		}
	}
	if err := r.addFinalizers(ctx, obj); err != nil {
		return ctrl.Result{}, err
	}
	return pass.run(ctx)
}

func (p *pass[T, S]) run(ctx context.Context) (ctrl.Result, error) {
	if err := p.Guard(p.obj); err != nil {
		return p.refuse(ctx, err)
	}
	hibernates, after := p.hibernates()
	if hibernates {
		return p.hibernate(ctx)
	}
	p.restate()
	p.results = p.Pipeline.run(ctx, p.Scope(p.obj), p.Metrics)
	if i := slices.IndexFunc(p.results, stepResult.lostRace); i >= 0 {
		// Another writer was faster: what this pass saw is outdated and not worth
		// reporting.
		p.emitStepEvents(ctx)
		return ctrl.Result{}, p.results[i].outcome.err
	}
	if slices.ContainsFunc(p.results, stepResult.namespaceGoes) {
		log.FromContext(ctx).Info("The namespace is being deleted, and this resource with it")
		return ctrl.Result{RequeueAfter: jitter(safetyNet)}, nil
	}
	generation := p.obj.GetGeneration()
	conditions := p.obj.GetConditions()
	record(&conditions, generation, p.results)
	aggregate(&conditions, generation, p.Pipeline.Conditions(), p.results)
	if p.Outdated != nil {
		remark(conditions, p.Outdated(p.obj))
	}
	if after != "" {
		remark(conditions, "It hibernates after "+after)
	}
	p.obj.SetConditions(conditions)
	if p.Summarise != nil {
		p.Summarise(p.obj)
	}
	return p.finish(ctx)
}

// refuse reports an invalid spec without touching anything else.
func (p *pass[T, S]) refuse(ctx context.Context, cause error) (ctrl.Result, error) {
	generation := p.obj.GetGeneration()
	conditions := p.obj.GetConditions()
	message := "The spec is not valid and nothing was changed: " + cause.Error()
	setCondition(&conditions, generation, vocabulary.ConditionReady, metav1.ConditionFalse, vocabulary.ReasonInvalidSpec, message)
	setStalled(&conditions, generation, vocabulary.ReasonInvalidSpec, message)
	p.obj.SetConditions(conditions)
	p.results = []stepResult{{condition: vocabulary.ConditionReady, outcome: Terminal(vocabulary.ReasonInvalidSpec, errors.New(message))}}
	return p.finish(ctx)
}

// leaveAlone reports why the resource is not reconciled.
func (p *pass[T, S]) leaveAlone(ctx context.Context, outcome Outcome) (ctrl.Result, error) {
	generation, conditions := p.obj.GetGeneration(), p.obj.GetConditions()
	setCondition(&conditions, generation, vocabulary.ConditionReady, metav1.ConditionFalse, outcome.reason, outcome.message)
	p.obj.SetConditions(conditions)
	p.results = []stepResult{{condition: vocabulary.ConditionReady, outcome: outcome}}
	return p.finish(ctx)
}
