package deployment

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/job"
	"github.com/c5c3/forge/internal/common/rollout"
	"github.com/c5c3/forge/internal/common/service"
)

// turnInterval is how often a resource whose turn comes later asks at the latest.
const turnInterval = 2 * time.Minute

// takeTurn reports whether the Deployment may be changed now. When a new version of the
// operator builds all Deployments differently, they change a few at a time.
func takeTurn(ctx context.Context, p *service.Pass, deploy *appsv1.Deployment) (bool, error) {
	name := client.ObjectKeyFromObject(p.Resource)
	if p.Turns == nil || p.Turns.IsCurrent(name) {
		return true, nil
	}
	live, err := apply.Find(ctx, p.Client, client.ObjectKeyFromObject(deploy), &appsv1.Deployment{})
	if err != nil {
		return false, err
	}
	state, err := stateOf(ctx, p, live, deploy)
	if err != nil {
		return false, err
	}
	// One that is stuck is left to whoever repairs it, and does not keep others waiting.
	return live != nil && isStuck(live) || p.Turns.Take(name, state), nil
}

// stateOf compares the existing Deployment, which may be nil, with the wanted one.
func stateOf(ctx context.Context, p *service.Pass, live, deploy *appsv1.Deployment) (state rollout.State, err error) {
	if live == nil {
		return state, nil
	}
	state.Exists = true
	state.Settled = IsDeploymentReady(live) && p.Status.UpgradePhase == "" && p.Status.ObservedGeneration == p.Resource.GetGeneration()
	if state.Wanted, err = job.Hash(deploy.Spec); err != nil {
		return state, err
	}
	state.Differs, err = apply.WouldChange(ctx, p.Client, p.Scheme, p.Resource, deploy, apply.FieldManager)
	return state, err
}

// isStuck reports whether the rollout has exceeded its deadline
// (https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#failed-deployment).
func isStuck(deploy *appsv1.Deployment) bool {
	for _, condition := range deploy.Status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing && condition.Reason == "ProgressDeadlineExceeded" {
			return true
		}
	}
	return false
}
