package reconcile

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/vocabulary"
)

// safetyNet is the requeue of a waiting resource when no watch fires. Progress
// never depends on it.
const safetyNet = 2 * time.Minute

// Object is what the engine requires of a custom resource.
type Object interface {
	client.Object
	// GetConditions returns the status conditions.
	GetConditions() []metav1.Condition
	// SetConditions replaces the status conditions.
	SetConditions(conditions []metav1.Condition)
	// SetObservedGeneration records the generation the status describes.
	SetObservedGeneration(generation int64)
	// StatusCopy returns a deep copy of the whole status for comparison.
	StatusCopy() any
}

// Reconciler runs a pipeline for one kind.
type Reconciler[T Object, S any] struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Recorder emits events on transitions.
	Recorder events.EventRecorder
	// Metrics may be nil.
	Metrics *Metrics
	// New returns an empty object of the kind.
	New func() T
	// Guard applies the defaults to the pass's copy and validates it, so that
	// an installation without webhooks stays safe. An error is shown as a
	// terminal InvalidSpec and nothing else happens.
	Guard func(T) error
	// Preflight returns why a resource must not be reconciled at all, and an empty
	// Refusal for any other. A refusal or an error becomes Ready, and nothing else
	// happens: not even finalizers are added. It may be nil.
	Preflight func(ctx context.Context, obj T) (Refusal, error)
	// Scope builds the state that the steps of one pass share.
	Scope func(T) S
	// Pipeline are the steps.
	Pipeline Pipeline[S]
	// Summarise completes the rest of the status from the conditions of the
	// pass. It may be nil.
	Summarise func(T)
	// Recomputed returns, for a resource as it was read, a function that takes out of a later
	// status what the resource lacked and what every pass recomputes until it is written. A
	// status that differs only in that may be written later, like the conditions. It may be
	// nil: then only conditions may be written later.
	Recomputed func(read T) func(later T)
	// Finalizers are the stages of deletion, in order. All of them are added
	// before the first step runs.
	Finalizers []Finalizer[S]
	// Forget drops in-memory state and metric series of a deleted
	// resource. It may be nil.
	Forget func(types.NamespacedName)

	races   Races
	written writes
	// clock replaces the time in tests.
	clock func() time.Time
}

// Refusal is why a resource is not reconciled: the reason and the message of Ready.
type Refusal struct{ Reason, Message string }

var _ ctrlreconcile.Reconciler = (*Reconciler[Object, any])(nil)

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
	if r.Recomputed != nil {
		pass.reset = r.Recomputed(obj)
	}
	if !obj.GetDeletionTimestamp().IsZero() {
		return pass.finalize(ctx)
	}
	if r.Preflight != nil {
		if refusal, err := r.Preflight(ctx, obj); err != nil {
			return pass.leaveAlone(ctx, Failed(vocabulary.ReasonReconcileError, err))
		} else if refusal != (Refusal{}) {
			return pass.leaveAlone(ctx, Degraded(refusal.Reason, refusal.Message))
		}
	}
	if err := r.addFinalizers(ctx, obj); err != nil {
		return ctrl.Result{}, err
	}
	return pass.run(ctx)
}

func (r *Reconciler[T, S]) now() time.Time {
	if r.clock != nil {
		return r.clock()
	}
	return time.Now()
}

func (r *Reconciler[T, S]) forget(name types.NamespacedName) {
	r.written.forget(name)
	if r.Forget != nil {
		r.Forget(name)
	}
}

// pass is the state of one run for one object.
type pass[T Object, S any] struct {
	*Reconciler[T, S]
	obj T
	// reset is what Recomputed has returned, nil without it.
	reset    func(T)
	before   any
	previous []metav1.Condition
	results  []stepResult
}

func (p *pass[T, S]) run(ctx context.Context) (ctrl.Result, error) {
	if err := p.Guard(p.obj); err != nil {
		return p.refuse(ctx, err)
	}
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
	p.obj.SetConditions(conditions)
	if p.Summarise != nil {
		p.Summarise(p.obj)
	}
	p.obj.SetObservedGeneration(generation)
	if wait := p.settles(); wait > 0 {
		p.emitStepEvents(ctx)
		result, err := p.result(ctx)
		result.RequeueAfter = Sooner(result.RequeueAfter, wait)
		return result, err
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

// finish emits the events, writes the status once, and only if it
// differs, and turns the outcomes into a result.
func (p *pass[T, S]) finish(ctx context.Context) (ctrl.Result, error) {
	p.emitStepEvents(ctx)
	return p.finishQuietly(ctx)
}

func (p *pass[T, S]) finishQuietly(ctx context.Context) (ctrl.Result, error) {
	p.obj.SetObservedGeneration(p.obj.GetGeneration())
	if !equality.Semantic.DeepEqual(p.before, p.obj.StatusCopy()) {
		if err := p.Client.Status().Update(ctx, p.obj); err != nil {
			if apierrors.IsNotFound(err) {
				return ctrl.Result{}, nil
			}
			if !apierrors.IsConflict(err) {
				p.Metrics.countUnmapped("Status")
			}
			return ctrl.Result{}, err
		}
		p.written.note(client.ObjectKeyFromObject(p.obj), p.now())
		p.emitTransitions()
	}
	return p.result(ctx)
}

// result returns the first transient error, otherwise the earliest requeue. Terminal
// errors are logged and left to the watches.
func (p *pass[T, S]) result(ctx context.Context) (ctrl.Result, error) {
	var result ctrl.Result
	for _, step := range p.results {
		outcome := step.outcome
		switch outcome.verdict {
		case verdictFailed:
			return ctrl.Result{}, outcome.err
		case verdictTerminal:
			log.FromContext(ctx).Info("Waiting for the user", "step", step.name, "reason", outcome.reason, "message", outcome.message)
			result.RequeueAfter = Sooner(result.RequeueAfter, outcome.after)
		case verdictWaiting:
			after := outcome.after
			if after == 0 {
				after = jitter(safetyNet)
			}
			result.RequeueAfter = Sooner(result.RequeueAfter, after)
		default:
			result.RequeueAfter = Sooner(result.RequeueAfter, outcome.after)
		}
	}
	return result, nil
}

// emitStepEvents emits the events of the steps. A failure while the operator is
// shutting down is caused by that, and says nothing about the resource.
func (p *pass[T, S]) emitStepEvents(ctx context.Context) {
	for _, result := range p.results {
		for _, event := range result.outcome.events {
			if event.Type == corev1.EventTypeWarning && ctx.Err() != nil {
				continue
			}
			p.emit(event.Type, event.Reason, result, event.Note)
		}
	}
}

func (p *pass[T, S]) emit(eventType, reason string, result stepResult, note string) {
	p.Recorder.Eventf(p.obj, nil, eventType, reason, result.actionName(), "%s", shorten(note, maxNote))
}

// emitTransitions emits events for what the status write has recorded, once per step,
// when its condition changes to a failure or to a reason that the step declares worth
// announcing.
func (p *pass[T, S]) emitTransitions() {
	for _, result := range p.results {
		for _, event := range result.outcome.recorded {
			p.emit(event.Type, event.Reason, result, event.Note)
		}
		if len(result.outcome.news) > 0 && isNews(p.previous, p.obj.GetConditions(), result) {
			for _, event := range result.outcome.news {
				p.emit(event.Type, event.Reason, result, event.Note)
			}
		}
		if result.skipped != "" || !changed(p.previous, p.obj.GetConditions(), result) {
			continue
		}
		for _, event := range result.outcome.transition {
			p.emit(event.Type, event.Reason, result, event.Note)
		}
		switch {
		case result.outcome.failed():
			p.emit(corev1.EventTypeWarning, result.outcome.reason, result, result.outcome.message)
		case result.outcome.IsDone() && result.announces():
			p.emit(corev1.EventTypeNormal, result.outcome.reason, result, result.outcome.message)
		}
	}
}

// Sooner returns the earlier of two requeue delays, of which zero requests none.
func Sooner(current, candidate time.Duration) time.Duration {
	if candidate == 0 || (current != 0 && current < candidate) {
		return current
	}
	return candidate
}

// jitter spreads safety-net passes by up to 20 % so that many resources do not
// come back at once.
func jitter(d time.Duration) time.Duration {
	return d + rand.N(d/5) //nolint:gosec // Not a secret: it only spreads load.
}
