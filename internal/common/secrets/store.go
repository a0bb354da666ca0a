package secrets

import (
	"context"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/c5c3/forge/internal/common/apply"
)

// StoreName is the ClusterSecretStore that the platform reads its Secrets from and
// pushes them to.
const StoreName = "openbao-cluster-store"

// CheckedStoreName is the ClusterSecretStore with the same backend whose state is known:
// External Secrets reports every store as ready that logs in with the account of the
// namespace that uses it, as [StoreName] does where each tenant has its own access.
const CheckedStoreName = "openbao-infrastructure-store"

// ExternalSecretGVK is the kind of the objects that make External Secrets create a
// Secret.
var ExternalSecretGVK = esov1.SchemeGroupVersion.WithKind(esov1.ExtSecretKind)

var storeGVK = esov1.SchemeGroupVersion.WithKind(esov1.ClusterSecretStoreKind)

// IsStoreReady reports whether the ClusterSecretStore is usable.
func IsStoreReady(store *esov1.ClusterSecretStore) bool {
	for _, condition := range store.Status.Conditions {
		if condition.Type == esov1.SecretStoreReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// served reports which kinds the cluster serves.
type served interface {
	Served(gvk schema.GroupVersionKind) bool
}

// BrokenStore returns the name of the store that is missing or unusable, or "". That is
// [StoreName], or [CheckedStoreName] where there is one. It returns "" if the cluster does
// not serve the kind, since the state of the store is unknown then.
func BrokenStore(ctx context.Context, kinds served, c client.Reader) (string, error) {
	if !kinds.Served(storeGVK) {
		return "", nil
	}
	for _, name := range []string{StoreName, CheckedStoreName} {
		store, err := apply.Find(ctx, c, client.ObjectKey{Name: name}, &esov1.ClusterSecretStore{})
		if err != nil {
			return "", err
		}
		if store == nil && name == StoreName || store != nil && !IsStoreReady(store) {
			return name, nil
		}
	}
	return "", nil
}

// StoreChanges selects the events after which the result of [BrokenStore] may
// differ. External Secrets writes the status of a store every few minutes, and
// every resource depends on the store.
var StoreChanges = predicate.And(
	predicate.NewPredicateFuncs(func(obj client.Object) bool {
		return obj.GetName() == StoreName || obj.GetName() == CheckedStoreName
	}),
	predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, known := e.ObjectOld.(*esov1.ClusterSecretStore)
		after, both := e.ObjectNew.(*esov1.ClusterSecretStore)
		return !known || !both || IsStoreReady(before) != IsStoreReady(after)
	}},
)
