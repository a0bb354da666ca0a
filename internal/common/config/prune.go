package config

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// PruneImmutableConfigMaps deletes the immutable ConfigMaps of a base name that
// the owner controls, except the one named currentName and the newest retain
// others. It lists through c, so a cache makes a call with nothing to delete
// free. Objects of another owner, without BaseLabel or with another prefix than
// the base name are never touched. One that vanishes meanwhile is not an error.
func PruneImmutableConfigMaps(
	ctx context.Context,
	c client.Client,
	owner client.Object,
	baseName, namespace, currentName string,
	retain int,
) error {
	var list corev1.ConfigMapList
	if err := c.List(ctx, &list, client.InNamespace(namespace),
		client.MatchingLabels{BaseLabel: BaseLabelValue(baseName)}); err != nil {
		return fmt.Errorf("listing the ConfigMaps of %s/%s: %w", namespace, baseName, err)
	}
	stale := slices.DeleteFunc(list.Items, func(cm corev1.ConfigMap) bool {
		return cm.Name == currentName || cm.DeletionTimestamp != nil ||
			!strings.HasPrefix(cm.Name, baseName+"-") || !metav1.IsControlledBy(&cm, owner)
	})
	slices.SortFunc(stale, newestFirst)
	for i := max(retain, 0); i < len(stale); i++ {
		cm := &stale[i]
		if err := c.Delete(ctx, cm, client.Preconditions{UID: &cm.UID}); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting the stale ConfigMap %s/%s: %w", namespace, cm.Name, err)
		}
		log.FromContext(ctx).Info("Deleted stale ConfigMap", "configMap", client.ObjectKeyFromObject(cm))
	}
	return nil
}

// newestFirst falls back to the name, because creation times are whole seconds.
func newestFirst(a, b corev1.ConfigMap) int {
	if order := b.CreationTimestamp.Compare(a.CreationTimestamp.Time); order != 0 {
		return order
	}
	return cmp.Compare(a.Name, b.Name)
}
