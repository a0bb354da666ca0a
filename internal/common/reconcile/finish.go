package reconcile

import (
	"context"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/apply"
)

// safetyNet is the requeue of a waiting resource when no watch fires. Progress
// never depends on it.
const safetyNet = 2 * time.Minute

// finish emits the events, writes the status once, and only if it
// differs, and turns the outcomes into a result.
func (p *pass[T, S]) finish(ctx context.Context) (ctrl.Result, error) {
	p.emitStepEvents(ctx)
	return p.finishQuietly(ctx)
}

func (p *pass[T, S]) finishQuietly(ctx context.Context) (ctrl.Result, error) {
	p.obj.SetObservedGeneration(p.obj.GetGeneration())
	written, err := p.writeStatus(ctx)
	if err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if written {
		p.emitTransitions()
	}
	return p.result(ctx)
}

// writeStatus writes the status if it differs from the stored one, and reports whether it did.
func (p *pass[T, S]) writeStatus(ctx context.Context) (written bool, err error) {
	if equality.Semantic.DeepEqual(p.before, p.obj.StatusCopy()) {
		return false, nil
	}
	err = apply.UpdateStatus(ctx, p.Client, p.obj)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		p.Metrics.countUnmapped("Status")
	}
	return err == nil, err
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

// jitter spreads safety-net passes by up to 20 % so that many resources do not
// come back at once.
func jitter(d time.Duration) time.Duration {
	return d + rand.N(d/5) //nolint:gosec // Not a secret: it only spreads load.
}
