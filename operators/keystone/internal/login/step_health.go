package login

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/health"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
	"github.com/c5c3/forge/operators/keystone/internal/proof"
)

// ReconcileHealth reports whether the API answers, independent of logins.
func ReconcileHealth(ctx context.Context, s *pass.Scope) reconcile.Outcome {
	return health.Check[*pass.Scope]{
		Condition: keystonev1alpha1.ConditionKeystoneAPIReady,
		URL:       func(s *pass.Scope) string { return pass.InternalEndpoint(s.Cluster, s.Resource) },
		Healthy:   healthy,
		Answered:  aboutLogin,
	}.Reconcile(ctx, s)
}

// healthy reports that the API answers, and whether the last login found the cache
// unavailable; without the cache no request fails. A restarted operator repeats the
// previous finding until it has its own.
func healthy(s *pass.Scope, message string) reconcile.Outcome {
	k := s.Resource
	switch s.Own.Proofs.Finding(client.ObjectKeyFromObject(k)).Verdict {
	case proof.Uncached:
		message += "; the cache at " + strings.Join(k.Spec.Cache.Addresses(s.Cluster, k.Namespace), ", ") +
			" does not answer, so that requests take longer; check its name, its pods and its NetworkPolicies"
		return reconcile.Done(vocabulary.ReasonAPIHealthy, message).
			OnNews(corev1.EventTypeWarning, keystonev1alpha1.EventCacheUnavailable, message)
	case proof.Unasked:
		if last := lastHealthy(k); last != nil {
			message = last.Message
		}
	}
	return reconcile.Done(vocabulary.ReasonAPIHealthy, message)
}
