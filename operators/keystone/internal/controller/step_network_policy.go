package controller

import (
	"context"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/networking"
	"github.com/c5c3/forge/internal/common/reconcile"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// reconcileNetworkPolicy isolates the API pods, and the Jobs beside them, when
// the spec asks for it.
func reconcileNetworkPolicy(ctx context.Context, s *scope) reconcile.Outcome {
	k := s.keystone
	of := traffic(s)
	api, tasks := of.API(), of.Tasks(allTasks(k))
	if k.Spec.NetworkPolicy == nil {
		if err := s.removeNetworkPolicies(ctx, api, tasks); err != nil {
			return reconcile.Failed(keystonev1alpha1.ReasonReconcileError, err)
		}
		return reconcile.Done(keystonev1alpha1.ReasonNetworkPolicyNotRequired, "spec.networkPolicy is not set")
	}
	for _, policy := range []*networkingv1.NetworkPolicy{api, tasks} {
		if err := apply.EnsureObject(ctx, s.Client, s.Scheme, k, policy, apply.FieldManager); err != nil {
			return reconcile.WriteFailed(keystonev1alpha1.ReasonReconcileError, err)
		}
	}
	return reconcile.Done(keystonev1alpha1.ReasonNetworkPolicyReady, networkPolicyMessage(k))
}

// removeNetworkPolicies starts with the one of others, which isolates the API on
// its own. The cache does not show it, so the API server is asked as long as there
// is one of the operator's.
func (s *scope) removeNetworkPolicies(ctx context.Context, own ...*networkingv1.NetworkPolicy) error {
	k := s.keystone
	err := s.Client.Get(ctx, client.ObjectKeyFromObject(own[0]), &networkingv1.NetworkPolicy{})
	switch {
	case err == nil:
		if err := s.removeClients(ctx); err != nil {
			return err
		}
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("reading NetworkPolicy %s: %w", own[0].Name, err)
	}
	// The first one goes last, because it is what says that there is something to do.
	for _, policy := range slices.Backward(own) {
		if err := apply.EnsureAbsent(ctx, s.Client, k, policy); err != nil {
			return err
		}
	}
	return nil
}

// removeClients removes the NetworkPolicy of others that the Keystone owns with
// them. A user's of that name stays.
func (s *scope) removeClients(ctx context.Context) error {
	k := s.keystone
	policy := &networkingv1.NetworkPolicy{}
	err := s.APIReader.Get(ctx, s.Key(keystonev1alpha1.ClientsPolicyName(k.Name)), policy)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading NetworkPolicy %s: %w", keystonev1alpha1.ClientsPolicyName(k.Name), err)
	}
	if !slices.ContainsFunc(policy.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == k.UID }) {
		return nil
	}
	err = s.Client.Delete(ctx, policy, client.Preconditions{UID: &policy.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting NetworkPolicy %s: %w", policy.Name, err)
	}
	return nil
}

func networkPolicyMessage(k *keystonev1alpha1.Keystone) string {
	message := "The NetworkPolicies are in place"
	if advice := k.ProxyAdvice(); advice != "" {
		message += "; " + advice
	}
	return message
}

// traffic is what the NetworkPolicies follow from.
func traffic(s *scope) networking.Traffic {
	k := s.keystone
	return networking.Traffic{
		Instance: deployment.InstanceOf(s.Pass), Policy: k.Spec.NetworkPolicy, Gateway: k.Spec.Gateway,
		Database: k.Spec.Database, Cache: k.Spec.Cache, OperatorNamespace: s.OperatorNamespace,
	}
}

// allTasks are the labels that all Jobs and CronJobs of a Keystone share.
func allTasks(k *keystonev1alpha1.Keystone) map[string]string {
	return definition.AllTasks(k.Name)
}
