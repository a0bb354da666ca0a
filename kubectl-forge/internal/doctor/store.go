package doctor

import (
	"context"
	"regexp"
	"slices"

	esov1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/secrets"
	"github.com/c5c3/forge/kubectl-forge/internal/check"
	"github.com/c5c3/forge/kubectl-forge/internal/kube"
)

func (e *examination) checkStore(ctx context.Context) error {
	store, err := kube.Store(ctx, e)
	if err != nil {
		return err
	}
	if store == nil {
		e.add(topicStore, check.Warning, "there is none: a ControlPlane that manages its database needs it, "+
			"and a Keystone has no copy of its keys without it")
		return nil
	}
	admitted, err := e.admits(ctx, store)
	switch {
	case err != nil:
		return err
	case !secrets.IsStoreReady(store):
		e.add(topicStore, check.Failed, "it, or %s, is not ready%s: unseal or repair the secret backend",
			secrets.CheckedStoreName, messageOf(store))
	case !admitted:
		e.add(topicStore, check.Failed, "its spec.conditions do not allow namespace %s to use it", e.Namespace)
	default:
		e.add(topicStore, check.OK, "ready, and namespace %s may use it", e.Namespace)
	}
	return nil
}

func messageOf(store *esov1.ClusterSecretStore) string {
	for _, condition := range store.Status.Conditions {
		if condition.Type == esov1.SecretStoreReady && condition.Message != "" {
			return " (" + condition.Message + ")"
		}
	}
	return ""
}

// admits reports whether one of the conditions of the store selects the namespace, with External Secrets' semantics. A
// store without conditions admits all namespaces.
func (e *examination) admits(ctx context.Context, store *esov1.ClusterSecretStore) (bool, error) {
	if len(store.Spec.Conditions) == 0 {
		return true, nil
	}
	namespace := &corev1.Namespace{}
	if err := e.Get(ctx, client.ObjectKey{Name: e.Namespace}, namespace); err != nil {
		return false, err
	}
	return slices.ContainsFunc(store.Spec.Conditions, func(c esov1.ClusterSecretStoreCondition) bool {
		selector, err := metav1.LabelSelectorAsSelector(c.NamespaceSelector)
		return slices.Contains(c.Namespaces, e.Namespace) || err == nil && selector.Matches(labels.Set(namespace.Labels)) ||
			slices.ContainsFunc(c.NamespaceRegexes, func(expression string) bool {
				matched, err := regexp.MatchString(expression, e.Namespace)
				return err == nil && matched
			})
	}), nil
}
