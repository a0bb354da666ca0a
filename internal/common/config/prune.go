package config

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/c5c3/forge/internal/common/apply"
)

// Retained is how many old configurations are kept beside the current one, so that a
// rollback finds its files.
const Retained = 3

// PruneImmutableConfigMaps deletes the immutable ConfigMaps of a base name that the
// owner controls, except currentName and the newest retain others. It lists through
// c; if that has a cache, a call with nothing to delete costs no request. Objects
// that have another owner, lack BaseLabel or whose name has another prefix than the
// base name are never deleted. An object that is already gone is not an error.
func PruneImmutableConfigMaps(
	ctx context.Context,
	c client.Client,
	owner client.Object,
	baseName, namespace, currentName string,
	retain int,
) error {
	return prune(ctx, c, owner, &corev1.ConfigMapList{}, "ConfigMap", baseName, namespace, currentName, retain)
}

// PruneImmutableSecrets is PruneImmutableConfigMaps for Secrets.
func PruneImmutableSecrets(
	ctx context.Context,
	c client.Client,
	owner client.Object,
	baseName, namespace, currentName string,
	retain int,
) error {
	return prune(ctx, c, owner, &corev1.SecretList{}, "Secret", baseName, namespace, currentName, retain)
}

func prune(
	ctx context.Context,
	c client.Client,
	owner client.Object,
	list client.ObjectList,
	kind, baseName, namespace, currentName string,
	retain int,
) error {
	stale, err := apply.List[client.Object](ctx, c, list, client.InNamespace(namespace),
		client.MatchingLabels{BaseLabel: BaseLabelValue(baseName)})
	if err != nil {
		return fmt.Errorf("listing the %ss of %s/%s: %w", kind, namespace, baseName, err)
	}
	stale = slices.DeleteFunc(stale, func(obj client.Object) bool {
		return obj.GetName() == currentName || obj.GetDeletionTimestamp() != nil ||
			!strings.HasPrefix(obj.GetName(), baseName+"-") || !metav1.IsControlledBy(obj, owner)
	})
	slices.SortFunc(stale, newestFirst)
	for i := max(retain, 0); i < len(stale); i++ {
		obj := stale[i]
		if err := apply.Delete(ctx, c, obj); err != nil {
			return err
		}
		log.FromContext(ctx).Info("Deleted a stale configuration", "kind", kind, "object", client.ObjectKeyFromObject(obj))
	}
	return nil
}

// newestFirst falls back to the resource version, because creation times have a
// resolution of one second and pruned objects never change, and finally to the
// name.
func newestFirst(a, b client.Object) int {
	created := b.GetCreationTimestamp()
	if order := created.Compare(a.GetCreationTimestamp().Time); order != 0 {
		return order
	}
	if order, err := resourceversion.CompareResourceVersion(b.GetResourceVersion(), a.GetResourceVersion()); err == nil && order != 0 {
		return order
	}
	return cmp.Compare(a.GetName(), b.GetName())
}
