package controller

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/database"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/poddiag"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcileDeployment keeps the API pods, the Service before them and the
// disruption budget around them.
func reconcileDeployment(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	if err := deployment.EnsureService(ctx, s.Client, s.Scheme, k, deployment.InstanceOf(s.Pass).Service()); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonWaitingForDeployment, err)
	}
	deploy := apiDeployment(s)
	ready, err := deployment.EnsureDeployment(ctx, s.Client, s.Scheme, k, deploy)
	if err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonWaitingForDeployment, err)
	}
	budget := deployment.InstanceOf(s.Pass).DisruptionBudget(ptr.Deref(deploy.Spec.Replicas, k.Spec.Replicas))
	if err := apply.EnsureObject(ctx, s.Client, s.Scheme, k, budget, apply.FieldManager); err != nil {
		return reconcile.WriteFailed(keystonev1alpha1.ReasonWaitingForDeployment, err)
	}
	if k.Status.Endpoint != "" || ready {
		k.Status.Endpoint = publicEndpoint(s.Cluster, k)
	}
	if !ready {
		return s.explainRollout(ctx, deploy)
	}
	if err := s.pruneConfigs(ctx); err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonConfigError, err)
	}
	done := reconcile.Done(keystonev1alpha1.ReasonDeploymentReady, "All API pods are updated and available")
	return keystoneSchema.CompleteRollout(ctx, s.Pass, done)
}

// explainRollout words what a rollout waits for, by its newest troubled pod.
func (s *scope) explainRollout(ctx context.Context, deploy *appsv1.Deployment) reconcile.Outcome {
	var list corev1.PodList
	err := s.Client.List(ctx, &list, client.InNamespace(deploy.Namespace), client.MatchingLabels(selectorLabels(s.keystone)))
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonWaitingForDeployment, fmt.Errorf("listing the API pods: %w", err))
	}
	message := "The Deployment is rolling out: " + deployment.Progress(deploy)
	problem, imagePull := poddiag.Problem(list.Items, s.Hidden()...)
	if problem == "" {
		problem = unready(s, list.Items)
	}
	refusal := deployment.Refusal(deploy)
	switch {
	case imagePull:
		return reconcile.Waiting(keystonev1alpha1.ReasonImagePullFailed, "The Deployment does not roll out: "+problem)
	case refusal != "":
		return reconcile.Waiting(keystonev1alpha1.ReasonWaitingForDeployment, "The Deployment does not roll out: "+poddiag.Refusal(refusal))
	case problem != "":
		message += "; " + problem
	}
	return reconcile.Waiting(keystonev1alpha1.ReasonWaitingForDeployment, message)
}

// settleTime is how long a pod may take from its start to its first good answer
// before that is worth a word.
const settleTime = 30 * time.Second

// unready names a pod that runs and does not serve, "" when there is none.
func unready(s *scope, list []corev1.Pod) string {
	for i := range list {
		for _, container := range list[i].Status.ContainerStatuses {
			running := container.State.Running
			if running != nil && !container.Ready && list[i].DeletionTimestamp == nil && time.Since(running.StartedAt.Time) > settleTime {
				return fmt.Sprintf("pod %s is running but not ready, which takes a login to the database at %s and an answer from the API",
					list[i].Name, database.Address(s.Pass))
			}
		}
	}
	return ""
}
