package networking

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
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// ReconcilePolicies isolates the API pods, and the Jobs beside them, when the spec asks
// for it.
func ReconcilePolicies(ctx context.Context, p *service.Pass) reconcile.Outcome {
	of := TrafficOf(p)
	api, tasks := of.API(), of.Tasks(p.AllTasks(p.Resource.GetName()))
	if p.Spec.NetworkPolicy == nil {
		if err := removePolicies(ctx, p, api, tasks); err != nil {
			return reconcile.Failed(vocabulary.ReasonReconcileError, err)
		}
		return reconcile.Done(vocabulary.ReasonNetworkPolicyNotRequired, "spec.networkPolicy is not set")
	}
	for _, policy := range []*networkingv1.NetworkPolicy{api, tasks} {
		if err := apply.EnsureObject(ctx, p.Client, p.Scheme, p.Resource, policy, apply.FieldManager); err != nil {
			return reconcile.WriteFailed(vocabulary.ReasonReconcileError, err)
		}
	}
	return reconcile.Done(vocabulary.ReasonNetworkPolicyReady, policiesMessage(p))
}

func policiesMessage(p *service.Pass) string {
	message := "The NetworkPolicies are in place"
	if advice := p.Spec.ProxyAdvice(p.Resource.GetNamespace()); advice != "" {
		message += "; " + advice
	}
	return message
}

// ClientsPolicyName is the name of the NetworkPolicy with which others, as its owners
// beside the resource of a service, let more clients reach the API of an instance that
// restricts who does. It goes with spec.networkPolicy: alone it would isolate the API. Its
// name holds a dot, which the name of an instance cannot.
func ClientsPolicyName(instance string) string { return instance + ".clients" }

// removePolicies starts with the one of others, which isolates the API on its own. The
// cache does not show it, so the API server is asked as long as there is one of the
// operator's.
func removePolicies(ctx context.Context, p *service.Pass, own ...*networkingv1.NetworkPolicy) error {
	err := p.Client.Get(ctx, client.ObjectKeyFromObject(own[0]), &networkingv1.NetworkPolicy{})
	switch {
	case err == nil:
		if err := removeClients(ctx, p); err != nil {
			return err
		}
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("reading NetworkPolicy %s: %w", own[0].Name, err)
	}
	// The first one goes last, because it is what says that there is something to do.
	for _, policy := range slices.Backward(own) {
		if err := apply.EnsureAbsent(ctx, p.Client, p.Resource, policy); err != nil {
			return err
		}
	}
	return nil
}

// removeClients removes the NetworkPolicy of others that the resource owns with them. A
// user's of that name stays.
func removeClients(ctx context.Context, p *service.Pass) error {
	name := ClientsPolicyName(p.Resource.GetName())
	policy := &networkingv1.NetworkPolicy{}
	err := p.APIReader.Get(ctx, p.Key(name), policy)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading NetworkPolicy %s: %w", name, err)
	}
	owned := func(owner metav1.OwnerReference) bool { return owner.UID == p.Resource.GetUID() }
	if !slices.ContainsFunc(policy.OwnerReferences, owned) {
		return nil
	}
	err = p.Client.Delete(ctx, policy, client.Preconditions{UID: &policy.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting NetworkPolicy %s: %w", policy.Name, err)
	}
	return nil
}

// TrafficOf is what the NetworkPolicies follow from.
func TrafficOf(p *service.Pass) Traffic {
	traffic := Traffic{
		Instance: deployment.InstanceOf(p), Policy: p.Spec.NetworkPolicy, Gateway: p.Spec.Gateway,
		Database: p.Spec.Database, Cache: p.Spec.Cache, OperatorNamespace: p.OperatorNamespace,
	}
	if p.EgressPorts != nil {
		traffic.EgressPorts = p.EgressPorts(p.Resource)
	}
	return traffic
}
