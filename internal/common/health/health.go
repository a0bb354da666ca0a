// Package health reports whether the API of a service answers.
package health

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// Check declares the health check of a service's API, in passes of type S.
type Check[S service.Scoped] struct {
	// Condition is the condition of the step.
	Condition string
	// URL returns the URL to probe from inside the cluster.
	URL func(S) string
	// Healthy returns the outcome for an API that answers; message says so. It may be
	// nil.
	Healthy func(s S, message string) reconcile.Outcome
	// Answered reports whether a False condition with the reason means that the API
	// answers. It may be nil.
	Answered func(reason string) bool
}

// Rollout is what the check observed of the API pods.
type Rollout struct {
	// Serving reports whether at least one pod is ready.
	Serving bool
	// State changes with the rollout.
	State string
}

// RolloutOf is the rollout in this pass, set by the step of a [Check]. It is not set while
// there is no endpoint or no Deployment.
var RolloutOf = reconcile.NewSlot[Rollout]("Rollout")

// reasons maps probe verdicts to the reasons of the condition.
var reasons = map[probe.Verdict]string{
	probe.Unhealthy:   vocabulary.ReasonAPIUnhealthy,
	probe.Unresolved:  vocabulary.ReasonEndpointNotReady,
	probe.TimedOut:    vocabulary.ReasonHealthCheckTimeout,
	probe.Unreachable: vocabulary.ReasonConnectionFailed,
	probe.Broken:      vocabulary.ReasonHealthCheckFailed,
}

// Reconcile reports whether the API answers through its Service. The probe runs in the
// background: every few minutes, and when the Deployment's status changes.
func (c Check[S]) Reconcile(ctx context.Context, s S) reconcile.Outcome {
	p := s.ServicePass()
	if p.Status.Endpoint == "" {
		return reconcile.Waiting(vocabulary.ReasonEndpointNotReady, "No API pod has become available yet")
	}
	deploy, err := deployment.Live(ctx, p)
	switch {
	case err != nil:
		return reconcile.Failed(vocabulary.ReasonHealthCheckFailed, err)
	case deploy == nil:
		return reconcile.Waiting(vocabulary.ReasonEndpointNotReady, "The Deployment of the API does not exist")
	}
	status, key, url := deploy.Status, client.ObjectKeyFromObject(p.Resource), c.URL(s)
	rollout := Rollout{Serving: status.ReadyReplicas > 0, State: fmt.Sprintf("%d/%d/%d/%d",
		status.ObservedGeneration, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas)}
	RolloutOf.Put(p.Slots, rollout)
	result, known := p.Prober.Check(key, url, rollout.State)
	switch {
	case !rollout.Serving:
		// A Service sends no requests to unready pods, but nodes learn about that later
		// than the Deployment's status does: a probe may still be answered.
		return reconcile.Waiting(vocabulary.ReasonConnectionFailed,
			"No API pod is ready, so nothing answers at "+url+"; see DeploymentReady for the cause")
	case !known && c.wasHealthy(p):
		// After a restart the operator has not probed yet, which is no reason to change
		// the condition.
		p.Prober.Expect(key)
		return c.healthy(s, url)
	case !known:
		return reconcile.Waiting(vocabulary.ReasonProbePending, "The API has not been probed yet")
	case result.Verdict == probe.Healthy:
		return c.healthy(s, url)
	}
	return reconcile.Waiting(reasons[result.Verdict], result.Message)
}

func (c Check[S]) healthy(s S, url string) reconcile.Outcome {
	message := s.ServicePass().Kind + " API is responding at " + url
	if c.Healthy != nil {
		return c.Healthy(s, message)
	}
	return reconcile.Done(vocabulary.ReasonAPIHealthy, message)
}

// wasHealthy reports whether the last probe under the current spec was answered.
func (c Check[S]) wasHealthy(p *service.Pass) bool {
	last := meta.FindStatusCondition(p.Resource.GetConditions(), c.Condition)
	if last == nil || last.ObservedGeneration != p.Resource.GetGeneration() {
		return false
	}
	return last.Status == metav1.ConditionTrue || c.Answered != nil && c.Answered(last.Reason)
}
