package testutil

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
)

// childKinds are all kinds of which a Keystone may have children.
var childKinds = []schema.GroupVersionKind{
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

// Child is an object that a Keystone controls, or once did, or that is to outlive
// it.
type Child struct{ metav1.PartialObjectMetadata }

// Outlives reports whether the child stays when its Keystone goes.
func (c Child) Outlives() bool { return metav1.GetControllerOf(&c) == nil }

// String returns kind and name, the content hash in the name left out.
func (c Child) String() string {
	return c.Kind + " " + contentHash.ReplaceAllString(c.Name, "-HASH")
}

// contentHash is the end of the names of immutable ConfigMaps.
var contentHash = regexp.MustCompile(`-[0-9a-f]{8}$`)

// Children returns the objects in the namespace that a Keystone controls or
// controlled, and the Secrets that outlive it, sorted by kind and name: also the
// orphans of one that is gone.
func Children(ctx context.Context, c client.Client, namespace string) ([]Child, error) {
	var children []Child
	for _, kind := range childKinds {
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
			outlives := owner == nil && kind.Kind == "Secret" && item.Labels["app.kubernetes.io/managed-by"] == "keystone-operator"
			if outlives || owner != nil && owner.Kind == "Keystone" {
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
