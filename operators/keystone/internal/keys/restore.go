package keys

import (
	"context"
	"fmt"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
	"github.com/c5c3/forge/operators/keystone/internal/pass"
)

// restorePeriod is how often External Secrets retries a copy that was missing.
const restorePeriod = time.Minute

// errAskingStore is wrapped by errors while it is unknown whether the store has a copy.
var errAskingStore = reconcile.WaitError(keystonev1alpha1.ReasonGeneratingKeys, "waiting for the keys from the secret store")

// stored returns the copy in the secret store, nil if there is certainly none. If the
// store does not answer, the error wraps errAskingStore: the store may have the only
// copy.
func (b keyBackup) stored(ctx context.Context, s *pass.Scope) (map[string][]byte, error) {
	if !s.Kinds.Served(secrets.ExternalSecretGVK) {
		return nil, nil
	}
	request := b.request(s.Cluster, s.Resource)
	live, err := apply.Find(ctx, s.ThirdParty, s.Key(request.Name), &esov1.ExternalSecret{})
	switch {
	case err != nil:
		return nil, err
	case live == nil:
		if err := controllerutil.SetControllerReference(s.Resource, request, s.Scheme); err != nil {
			return nil, fmt.Errorf("setting the owner of ExternalSecret %s: %w", request.Name, err)
		}
		if err := apply.Create(ctx, s.ThirdParty, request); err != nil {
			return nil, err
		}
		return nil, errAskingStore
	case !metav1.IsControlledBy(live, s.Resource):
		return nil, fmt.Errorf("an ExternalSecret named %s already exists that this resource does not control; delete it: %w",
			request.Name, apply.ErrNotOwned)
	}
	return b.answer(ctx, s, live)
}

// asked reports whether the copy has been requested from the store.
func (b keyBackup) asked(ctx context.Context, s *pass.Scope) (bool, error) {
	if !s.Kinds.Served(secrets.ExternalSecretGVK) {
		return false, nil
	}
	live, err := apply.Find(ctx, s.ThirdParty, s.Key(b.request(s.Cluster, s.Resource).Name), &esov1.ExternalSecret{})
	return live != nil && metav1.IsControlledBy(live, s.Resource), err
}

func (b keyBackup) answer(ctx context.Context, s *pass.Scope, request *esov1.ExternalSecret) (map[string][]byte, error) {
	for _, condition := range request.Status.Conditions {
		if condition.Type != esov1.ExternalSecretReady {
			continue
		}
		if condition.Status != corev1.ConditionTrue {
			return nil, fmt.Errorf("%w, but ExternalSecret %s is not ready: %s; repair ClusterSecretStore %s or the backend behind it",
				errAskingStore, request.Name, condition.Message, secrets.StoreName)
		}
		found, err := s.Owned.FindUncached(ctx, s.Key(request.Spec.Target.Name))
		if err != nil || found == nil {
			return nil, err
		}
		return found.Data, nil
	}
	return nil, errAskingStore
}

// request builds the ExternalSecret that reads the copy into a Secret with the same
// lifetime. Its policy to delete that Secret makes External Secrets distinguish a missing
// copy from a store that does not answer.
func (b keyBackup) request(c cluster.Settings, k *keystonev1alpha1.Keystone) *esov1.ExternalSecret {
	return &esov1.ExternalSecret{
		// It has the Secret's name, so that it is found by the names that a Keystone
		// refers to.
		ObjectMeta: metav1.ObjectMeta{Name: b.source(k), Namespace: k.Namespace, Labels: pass.Definition.Labels(k.Name)},
		Spec: esov1.ExternalSecretSpec{
			SecretStoreRef:  esov1.SecretStoreRef{Kind: esov1.ClusterSecretStoreKind, Name: secrets.StoreName},
			RefreshInterval: &metav1.Duration{Duration: restorePeriod},
			Target: esov1.ExternalSecretTarget{
				Name: b.source(k) + "-stored", CreationPolicy: esov1.CreatePolicyOwner, DeletionPolicy: esov1.DeletionPolicyDelete,
			},
			DataFrom: []esov1.ExternalSecretDataFromRemoteRef{{Extract: &esov1.ExternalSecretDataRemoteRef{Key: b.path(c, k)}}},
		},
	}
}

// endRequest removes the ExternalSecret that stored created.
func (b keyBackup) endRequest(ctx context.Context, s *pass.Scope) error {
	if !s.Kinds.Served(secrets.ExternalSecretGVK) {
		return nil
	}
	return apply.EnsureAbsent(ctx, s.ThirdParty, s.Resource, b.request(s.Cluster, s.Resource))
}
