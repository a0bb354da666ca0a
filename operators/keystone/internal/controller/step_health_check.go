package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/probe"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

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
		return reconcile.Waiting(keystonev1alpha1.ReasonEndpointNotReady, "The API pods have not been available yet")
	}
	deploy := &appsv1.Deployment{}
	if err := s.client.Get(ctx, s.key(k.Name), deploy); err != nil {
		return reconcile.Failed(keystonev1alpha1.ReasonHealthCheckFailed, fmt.Errorf("reading Deployment %s: %w", k.Name, err))
	}
	trigger := fmt.Sprintf("%d/%d/%d", deploy.Status.ObservedGeneration, deploy.Status.UpdatedReplicas, deploy.Status.AvailableReplicas)
	result, known := s.prober.Check(client.ObjectKeyFromObject(k), internalEndpoint(k), trigger)
	switch {
	case !known:
		return reconcile.Waiting(keystonev1alpha1.ReasonProbePending, "The API has not been asked yet")
	case result.Verdict == probe.Healthy:
		return reconcile.Done(keystonev1alpha1.ReasonAPIHealthy, "Keystone API is responding at "+internalEndpoint(k))
	}
	return reconcile.Waiting(probeReasons[result.Verdict], result.Message)
}
