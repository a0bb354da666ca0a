// Package children finds the objects that a service's operator has created.
package children

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/service"
)

// kinds are all kinds of which a service may have children.
var kinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Secret"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "batch", Version: "v1", Kind: "CronJob"},
	{Group: "batch", Version: "v1", Kind: "Job"},
	{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"},
	{Group: "external-secrets.io", Version: "v1alpha1", Kind: "PushSecret"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"},
	{Group: "k8s.mariadb.com", Version: "v1alpha1", Kind: "Database"},
	{Group: "k8s.mariadb.com", Version: "v1alpha1", Kind: "Grant"},
	{Group: "k8s.mariadb.com", Version: "v1alpha1", Kind: "User"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "RoleBinding"},
}

// Kind returns the child kind with the name.
func Kind(name string) schema.GroupVersionKind {
	i := slices.IndexFunc(kinds, func(kind schema.GroupVersionKind) bool { return kind.Kind == name })
	if i < 0 {
		return schema.GroupVersionKind{Kind: name}
	}
	return kinds[i]
}

// Child is an object that a resource controls or used to control, or that outlives it.
type Child struct{ metav1.PartialObjectMetadata }

// Outlives reports whether the child is kept when its resource is deleted.
func (c Child) Outlives() bool { return metav1.GetControllerOf(&c) == nil }

// Hashed reports whether the name of the child ends with a hash of its content.
func (c Child) Hashed() bool { return contentHash.MatchString(c.Name) }

// String returns kind and name without the content hash.
func (c Child) String() string {
	return c.Kind + " " + contentHash.ReplaceAllString(c.Name, "-HASH")
}

// contentHash matches the suffix of the names of immutable ConfigMaps and Secrets.
var contentHash = regexp.MustCompile(`-([0-9a-f]{8}|[0-9a-f]{16})$`)

// Find returns the objects in the namespace that a resource of the service controls or
// used to control, and those of the operator without a controller, sorted by kind and
// name. That includes orphans of a deleted resource.
func Find(ctx context.Context, c client.Client, of *service.Definition, namespace string) ([]Child, error) {
	var children []Child
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := c.List(ctx, list, client.InNamespace(namespace))
		if meta.IsNoMatchError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Kind, err)
		}
		for _, item := range list.Items {
			item.SetGroupVersionKind(kind)
			owner := metav1.GetControllerOf(&item)
			ownerless := owner == nil && item.Labels[service.LabelManagedBy] == of.ManagedBy()
			if ownerless || owner != nil && owner.Kind == of.Kind {
				children = append(children, Child{item})
			}
		}
	}
	slices.SortFunc(children, func(a, b Child) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return children, nil
}

// Names returns the children as strings.
func Names(children []Child) []string {
	names := make([]string, len(children))
	for i, child := range children {
		names[i] = child.String()
	}
	return names
}
