package kube

import (
	"context"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/secrets"
)

// Store returns the ClusterSecretStore of the platform, nil when there is none. Its status
// is that of the store that External Secrets can check, if there is one.
func Store(ctx context.Context, c client.Reader) (*esov1.ClusterSecretStore, error) {
	store, checked := &esov1.ClusterSecretStore{}, &esov1.ClusterSecretStore{}
	err := c.Get(ctx, client.ObjectKey{Name: secrets.StoreName}, store)
	switch {
	case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if err = c.Get(ctx, client.ObjectKey{Name: secrets.CheckedStoreName}, checked); err == nil {
		store.Status = checked.Status
	}
	return store, client.IgnoreNotFound(err)
}
