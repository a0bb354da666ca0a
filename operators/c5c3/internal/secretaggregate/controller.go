// Package secretaggregate is the controller of the SecretAggregate kind.
package secretaggregate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/controller"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/internal/common/watches"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
	"github.com/c5c3/forge/operators/c5c3/internal/pass"
	"github.com/c5c3/forge/operators/c5c3/internal/services"
)

// +kubebuilder:rbac:groups=c5c3.io,resources=secretaggregates,verbs=list;watch
// +kubebuilder:rbac:groups=c5c3.io,resources=secretaggregates/status,verbs=update
// +kubebuilder:rbac:groups=c5c3.io,resources=secretaggregates/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;delete

// indexTarget is the field index from the name of a Secret to the SecretAggregates that write
// it.
const indexTarget = "spec.targetSecretName"

// Controller declares the controller of SecretAggregates.
var Controller = controller.Controller[*c5c3v1alpha1.SecretAggregate, *pass.Tools, *aggregation]{
	For:         &c5c3v1alpha1.SecretAggregate{},
	List:        &c5c3v1alpha1.SecretAggregateList{},
	AddToScheme: c5c3v1alpha1.AddToScheme,
	Kinds: []controller.Kind{
		{Object: &corev1.Secret{}},
		// Only the existence and the spec of a control plane matter.
		{Object: &c5c3v1alpha1.ControlPlane{}, Concerns: controller.SameNamespace, Only: predicate.GenerationChangedPredicate{}},
	},
	Indexes: map[string]func(*c5c3v1alpha1.SecretAggregate) []string{
		indexTarget: func(aggregate *c5c3v1alpha1.SecretAggregate) []string { return []string{aggregate.TargetSecret()} },
	},
	Secrets: concerned,
	Guard: func(aggregate *c5c3v1alpha1.SecretAggregate) error {
		return c5c3v1alpha1.ValidateSecretAggregate(aggregate).ToAggregate()
	},
	Scope: func(tools *pass.Tools, aggregate *c5c3v1alpha1.SecretAggregate) *aggregation {
		return &aggregation{Tools: tools, aggregate: aggregate}
	},
	Pipeline: reconcile.Pipeline[*aggregation]{
		{
			Name: "SecretAggregate", Condition: vocabulary.ConditionReady, Run: reconcileAggregate,
			Announce: []string{c5c3v1alpha1.EventSecretsAggregated},
		},
	},
}

// concerned selects the SecretAggregates that write a Secret, and all that may read it.
func concerned(find watches.Finder) handler.MapFunc {
	writers := find.By(indexTarget)
	return func(ctx context.Context, secret client.Object) []ctrlreconcile.Request {
		if isSource(ctx, find, secret) {
			return find.SameNamespace(ctx, secret)
		}
		return writers(ctx, secret)
	}
}

// isSource reports whether a control plane of the namespace has a credential in the
// Secret.
func isSource(ctx context.Context, reader client.Reader, secret client.Object) bool {
	var all c5c3v1alpha1.ControlPlaneList
	if err := reader.List(ctx, &all, client.InNamespace(secret.GetNamespace())); err != nil {
		log.FromContext(ctx).Error(err, "Listing the ControlPlanes of a Secret failed")
		return true
	}
	return slices.ContainsFunc(all.Items, func(cp c5c3v1alpha1.ControlPlane) bool {
		c5c3v1alpha1.SetDefaults(&cp)
		return slices.ContainsFunc(credentialSecrets(&cp), func(from credentialSecret) bool { return from.name == secret.GetName() })
	})
}

// aggregation is one pass over one SecretAggregate.
type aggregation struct {
	*pass.Tools
	aggregate *c5c3v1alpha1.SecretAggregate
}

// reconcileAggregate aggregates the entries of the control plane's Secrets. The result
// stays as it is while a source is missing.
func reconcileAggregate(ctx context.Context, a *aggregation) reconcile.Outcome {
	cp, err := controlplane.Only(ctx, a.Client, a.aggregate)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	entries, err := aggregateEntries(a.aggregate, cp, services.All.Hold)
	if err != nil {
		return reconcile.Terminal(vocabulary.ReasonInvalidSpec, err)
	}
	if err := keyCollision(entries); err != nil {
		return reconcile.Terminal(c5c3v1alpha1.ReasonKeyCollision, err)
	}
	found, err := a.read(ctx, entries)
	if err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonSecretError, err)
	}
	if missing := missingEntries(entries, found); len(missing) > 0 {
		return reconcile.Waiting(c5c3v1alpha1.ReasonWaitingForSecrets, "Waiting for "+strings.Join(missing, ", "))
	}
	if err := a.Owned.EnsureData(ctx, a.aggregate, aggregateSecret(a.aggregate, cp, entries, found)); err != nil {
		return reconcile.WriteFailed(c5c3v1alpha1.ReasonSecretError, err)
	}
	if err := a.deleteFormerTargets(ctx); err != nil {
		return reconcile.Failed(c5c3v1alpha1.ReasonSecretError, err)
	}
	a.aggregate.Status.TargetSecretName = a.aggregate.TargetSecret()
	return reconcile.Done(c5c3v1alpha1.ReasonSecretsAggregated,
		fmt.Sprintf("Secret %s holds %d entries", a.aggregate.TargetSecret(), len(entries)))
}

// read returns the existing Secrets of the entries by name.
func (a *aggregation) read(ctx context.Context, entries []aggregateEntry) (map[string]*corev1.Secret, error) {
	found := map[string]*corev1.Secret{}
	for _, entry := range entries {
		if found[entry.secret] != nil {
			continue
		}
		key := client.ObjectKey{Namespace: a.aggregate.Namespace, Name: entry.secret}
		secret, err := apply.Find(ctx, a.Refs, key, &corev1.Secret{})
		if err != nil {
			return nil, err
		}
		if secret != nil {
			found[entry.secret] = secret
		}
	}
	return found, nil
}

// deleteFormerTargets deletes the Secret that the spec named before. It is called once
// the new one is complete.
func (a *aggregation) deleteFormerTargets(ctx context.Context) error {
	var own corev1.SecretList
	err := a.Client.List(ctx, &own, client.InNamespace(a.aggregate.Namespace), client.MatchingLabels{componentLabel: aggregateComponent})
	if err != nil {
		return fmt.Errorf("listing the Secrets of namespace %s: %w", a.aggregate.Namespace, err)
	}
	for i := range own.Items {
		if own.Items[i].Name == a.aggregate.TargetSecret() {
			continue
		}
		if err := apply.EnsureAbsent(ctx, a.Client, a.aggregate, &own.Items[i]); err != nil {
			return err
		}
	}
	return nil
}
