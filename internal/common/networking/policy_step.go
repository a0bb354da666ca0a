package networking

import (
	"context"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/deployment"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/service"
	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// ReconcilePolicies isolates the API pods and the pods of Jobs if the spec requires
// it.
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

// ClientsPolicyName returns the name of the NetworkPolicy that other components
// create to let further clients reach the API of an isolated instance. They own it
// together with the resource of the service. It is deleted along with
// spec.networkPolicy, because on its own it would isolate the API. The name
// contains a dot, so it cannot collide with that of another instance.
func ClientsPolicyName(instance string) string { return instance + ".clients" }

// removePolicies first removes the NetworkPolicy of other components, because on
// its own it isolates the API. The cache does not contain it, so it is read from
// the API server as long as one of the operator's policies exists.
func removePolicies(ctx context.Context, p *service.Pass, own ...*networkingv1.NetworkPolicy) error {
	first, err := apply.Find(ctx, p.Client, client.ObjectKeyFromObject(own[0]), &networkingv1.NetworkPolicy{})
	if first != nil {
		err = removeClients(ctx, p)
	}
	if err != nil {
		return err
	}
	// The first policy is deleted last: while it exists, removal is not complete.
	for _, policy := range slices.Backward(own) {
		if err := apply.EnsureAbsent(ctx, p.Client, p.Resource, policy); err != nil {
			return err
		}
	}
	return nil
}

// removeClients removes the NetworkPolicy of other components if the resource is
// one of its owners. A policy of that name that a user created is kept.
func removeClients(ctx context.Context, p *service.Pass) error {
	name := ClientsPolicyName(p.Resource.GetName())
	policy, err := apply.Find(ctx, p.APIReader, p.Key(name), &networkingv1.NetworkPolicy{})
	if policy == nil || err != nil {
		return err
	}
	owned := func(owner metav1.OwnerReference) bool { return owner.UID == p.Resource.GetUID() }
	if !slices.ContainsFunc(policy.OwnerReferences, owned) {
		return nil
	}
	return apply.Delete(ctx, p.Client, policy)
}

// TrafficOf returns the input for the NetworkPolicies.
func TrafficOf(p *service.Pass) Traffic {
	traffic := Traffic{
		Instance: deployment.InstanceOf(p), Policy: p.Spec.NetworkPolicy, Gateway: p.Spec.Gateway,
		Cache: p.Spec.Cache, OperatorNamespace: p.OperatorNamespace, IdentityURL: commonv1.IdentityURLOf(p.Resource),
	}
	if p.Data != nil {
		traffic.Database = &p.Data.Database
	}
	return traffic
}
