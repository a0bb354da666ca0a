package secretaggregate

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/refs"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/vocabulary"
	c5c3v1alpha1 "github.com/c5c3/forge/operators/c5c3/api/v1alpha1"
	"github.com/c5c3/forge/operators/c5c3/internal/controlplane"
)

// +kubebuilder:rbac:groups=c5c3.io,resources=secretaggregates,verbs=list;watch
// +kubebuilder:rbac:groups=c5c3.io,resources=secretaggregates/status,verbs=update
// +kubebuilder:rbac:groups=c5c3.io,resources=secretaggregates/finalizers,verbs=update
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;update;delete

// Pipeline lists the steps of a pass over a SecretAggregate.
var Pipeline = reconcile.Pipeline[*aggregation]{
	{
		Name: "SecretAggregate", Condition: vocabulary.ConditionReady, Run: reconcileAggregate,
		Announce: []string{c5c3v1alpha1.EventSecretsAggregated},
	},
}

// aggregator holds the dependencies of passes over SecretAggregates.
type aggregator struct {
	client  client.Client
	refs    *refs.Reader
	secrets secrets.Owned
	// reserved reports whether a service of the control plane has the Secret.
	reserved func(name string, cp *c5c3v1alpha1.ControlPlane) bool
}

// aggregation is one pass over one SecretAggregate.
type aggregation struct {
	*aggregator
	aggregate *c5c3v1alpha1.SecretAggregate
}

// reconcileAggregate aggregates the entries of the control plane's Secrets. The result
// stays as it is while a source is missing.
func reconcileAggregate(ctx context.Context, a *aggregation) reconcile.Outcome {
	cp, err := controlplane.Only(ctx, a.client, a.aggregate)
	if err != nil {
		return reconcile.Failed(vocabulary.ReasonReconcileError, err)
	}
	entries, err := aggregateEntries(a.aggregate, cp, a.reserved)
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
	if err := a.secrets.EnsureData(ctx, a.aggregate, aggregateSecret(a.aggregate, cp, entries, found)); err != nil {
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
		secret, err := apply.Find(ctx, a.refs, key, &corev1.Secret{})
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
	err := a.client.List(ctx, &own, client.InNamespace(a.aggregate.Namespace), client.MatchingLabels{componentLabel: aggregateComponent})
	if err != nil {
		return fmt.Errorf("listing the Secrets of namespace %s: %w", a.aggregate.Namespace, err)
	}
	for i := range own.Items {
		if own.Items[i].Name == a.aggregate.TargetSecret() {
			continue
		}
		if err := apply.EnsureAbsent(ctx, a.client, a.aggregate, &own.Items[i]); err != nil {
			return err
		}
	}
	return nil
}
