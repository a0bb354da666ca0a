package controller

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// healthy says that the API answers, and what the last login found out about the
// cache, which no request fails without. A restarted operator repeats what its
// predecessor has said until it knows.
func (s *scope) healthy(endpoint string) reconcile.Outcome {
	k := s.keystone
	message := "Keystone API is responding at " + endpoint
	uncached := message + "; the cache at " + strings.Join(cacheServers(s.Cluster, k), ", ") +
		" does not answer, so that requests take longer; check its name, its pods and its NetworkPolicies"
	last := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionKeystoneAPIReady)
	switch found := s.proofs.Finding(client.ObjectKeyFromObject(k)).Verdict; {
	case found == proof.Uncached, found == proof.Unasked && last != nil && last.Message == uncached:
		return reconcile.Done(keystonev1alpha1.ReasonAPIHealthy, uncached).
			OnNews(corev1.EventTypeWarning, keystonev1alpha1.EventCacheUnavailable, uncached)
	}
	return reconcile.Done(keystonev1alpha1.ReasonAPIHealthy, message)
}

// wasHealthy reports whether the API answered when it was last asked under the
// current spec, whatever has become of logins.
func wasHealthy(k *keystonev1alpha1.Keystone) bool {
	last := meta.FindStatusCondition(k.Status.Conditions, keystonev1alpha1.ConditionKeystoneAPIReady)
	return last != nil && (last.Status == metav1.ConditionTrue || aboutLogin(last.Reason)) && last.ObservedGeneration == k.Generation
}

// probeReasons word a finding about the API in the condition's vocabulary.
var probeReasons = map[probe.Verdict]string{
	probe.Unhealthy:   keystonev1alpha1.ReasonAPIUnhealthy,
	probe.Unresolved:  keystonev1alpha1.ReasonEndpointNotReady,
	probe.TimedOut:    keystonev1alpha1.ReasonHealthCheckTimeout,
	probe.Unreachable: keystonev1alpha1.ReasonConnectionFailed,
	probe.Broken:      keystonev1alpha1.ReasonHealthCheckFailed,
}

// reconcileHealthCheck reports whether the API answers through its Service.
// The question is asked in the background: again when the Deployment's status
// changes, and every few minutes besides.
func reconcileHealthCheck(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	if k.Status.Endpoint == "" {
		return reconcile.Waiting(keystonev1alpha1.ReasonEndpointNotReady, "No API pod has become available yet")
	}
	deploy := &appsv1.Deployment{}
	err := s.Client.Get(ctx, s.Key(k.Name), deploy)
	if apierrors.IsNotFound(err) {
		return reconcile.Waiting(keystonev1alpha1.ReasonEndpointNotReady, "The Deployment of the API does not exist")
	}
	if err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonHealthCheckFailed, fmt.Errorf("reading Deployment %s: %w", k.Name, err))
	}
	status := deploy.Status
	s.serving = status.ReadyReplicas > 0
	s.rollout = fmt.Sprintf("%d/%d/%d/%d", status.ObservedGeneration, status.UpdatedReplicas, status.ReadyReplicas, status.AvailableReplicas)
	endpoint := internalEndpoint(s.Cluster, k)
	result, known := s.Prober.Check(client.ObjectKeyFromObject(k), endpoint, s.rollout)
	switch {
	case !s.serving:
		// A Service sends nothing to pods that are not ready, but the nodes learn
		// about that later than the Deployment's status: a probe may still be
		// answered.
		return reconcile.Waiting(keystonev1alpha1.ReasonConnectionFailed,
			"No API pod is ready, so nothing answers at "+endpoint+"; DeploymentReady tells why")
	case !known && wasHealthy(k):
		// A restarted operator has not asked yet; that is no news about the API.
		s.Prober.Expect(client.ObjectKeyFromObject(k))
		return s.healthy(endpoint)
	case !known:
		return reconcile.Waiting(keystonev1alpha1.ReasonProbePending, "The API has not been asked yet")
	case result.Verdict == probe.Healthy:
		return s.healthy(endpoint)
	}
	return reconcile.Waiting(probeReasons[result.Verdict], result.Message)
}
