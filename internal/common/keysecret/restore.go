package keysecret

import (
	"context"
	"fmt"
	"time"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/reconcile"
	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/internal/common/service"
	"github.com/c5c3/forge/internal/common/vocabulary"
)

// restorePeriod is how often External Secrets retries a copy that was missing.
const restorePeriod = time.Minute

// errAskingStore is wrapped by errors while it is unknown whether the store has a copy.
var errAskingStore = reconcile.WaitError(vocabulary.ReasonGeneratingKeys, "waiting for the keys from the secret store")

// stored returns the copy in the secret store, nil if there is certainly none. If the
// store does not answer, the error wraps errAskingStore: the store may have the only
// copy.
func (k Keys) stored(ctx context.Context, p *service.Pass) (map[string][]byte, error) {
	if !p.Kinds.Served(secrets.ExternalSecretGVK) {
		return nil, nil
	}
	request := k.request(p)
	live, err := apply.Find(ctx, p.ThirdParty, p.Key(request.Name), &esov1.ExternalSecret{})
	switch {
	case err != nil:
		return nil, err
	case live == nil:
		if err := controllerutil.SetControllerReference(p.Resource, request, p.Scheme); err != nil {
			return nil, fmt.Errorf("setting the owner of ExternalSecret %s: %w", request.Name, err)
		}
		if err := apply.Create(ctx, p.ThirdParty, request); err != nil {
			return nil, err
		}
		return nil, errAskingStore
	case !metav1.IsControlledBy(live, p.Resource):
		return nil, fmt.Errorf("an ExternalSecret named %s already exists that this resource does not control; delete it: %w",
			request.Name, apply.ErrNotOwned)
	}
	return k.answer(ctx, p, live)
}

// asked reports whether the copy has been requested from the store.
func (k Keys) asked(ctx context.Context, p *service.Pass) (bool, error) {
	if !p.Kinds.Served(secrets.ExternalSecretGVK) {
		return false, nil
	}
	live, err := apply.Find(ctx, p.ThirdParty, p.Key(k.request(p).Name), &esov1.ExternalSecret{})
	return live != nil && metav1.IsControlledBy(live, p.Resource), err
}

func (k Keys) answer(ctx context.Context, p *service.Pass, request *esov1.ExternalSecret) (map[string][]byte, error) {
	for _, condition := range request.Status.Conditions {
		if condition.Type != esov1.ExternalSecretReady {
			continue
		}
		if condition.Status != corev1.ConditionTrue {
			return nil, fmt.Errorf("%w, but ExternalSecret %s is not ready: %s; repair ClusterSecretStore %s or the backend behind it",
				errAskingStore, request.Name, condition.Message, secrets.StoreName)
		}
		found, err := p.Owned.FindUncached(ctx, p.Key(request.Spec.Target.Name))
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
func (k Keys) request(p *service.Pass) *esov1.ExternalSecret {
	return &esov1.ExternalSecret{
		// It has the Secret's name, so that it is found by the names that a resource
		// refers to.
		ObjectMeta: p.Meta(k.Of(p)),
		Spec: esov1.ExternalSecretSpec{
			SecretStoreRef:  esov1.SecretStoreRef{Kind: esov1.ClusterSecretStoreKind, Name: secrets.StoreName},
			RefreshInterval: &metav1.Duration{Duration: restorePeriod},
			Target: esov1.ExternalSecretTarget{
				Name: k.Of(p) + "-stored", CreationPolicy: esov1.CreatePolicyOwner, DeletionPolicy: esov1.DeletionPolicyDelete,
			},
			DataFrom: []esov1.ExternalSecretDataFromRemoteRef{{Extract: &esov1.ExternalSecretDataRemoteRef{Key: k.path(p)}}},
		},
	}
}

// endRequest removes the ExternalSecret that stored created.
func (k Keys) endRequest(ctx context.Context, p *service.Pass) error {
	if !p.Kinds.Served(secrets.ExternalSecretGVK) {
		return nil
	}
	return apply.EnsureAbsent(ctx, p.ThirdParty, p.Resource, k.request(p))
}
