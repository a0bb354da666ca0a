package sharing

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// kinds are all kinds whose resources have a database. Each operator watches those of the
// others, as far as they are installed, and its roles let it.
//
// They are listed, and read themselves, because nothing else can be trusted: of a database
// of somebody else there is no object of mariadb-operator, and an object that stands for a
// claim could be written by anybody who may edit in a namespace. The status of a resource
// is written by its operator only.
var kinds = []schema.GroupVersionKind{
	{Group: "keystone.openstack.c5c3.io", Version: "v1alpha1", Kind: "Keystone"},
	{Group: "placement.openstack.c5c3.io", Version: "v1alpha1", Kind: "Placement"},
	{Group: "barbican.openstack.c5c3.io", Version: "v1alpha1", Kind: "Barbican"},
	{Group: "glance.openstack.c5c3.io", Version: "v1alpha1", Kind: "Glance"},
}

// Others returns the kinds with a database, other than the given one.
func Others(kind string) []schema.GroupVersionKind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k schema.GroupVersionKind) bool { return k.Kind == kind })
}

// Object returns an empty object of the kind.
func Object(kind schema.GroupVersionKind) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object
}

// List returns the claims of all resources of a kind. A kind that is not installed has
// none. An operator whose permissions end at a namespace only knows those there, and one
// that must not read the kind knows none.
func List(ctx context.Context, r client.Reader, kind schema.GroupVersionKind, in cluster.Settings, namespace string) ([]Claim, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err := r.List(ctx, list)
	if apierrors.IsForbidden(err) {
		err = r.List(ctx, list, client.InNamespace(namespace))
	}
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err), apierrors.IsForbidden(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing the %ss: %w", kind.Kind, err)
	}
	claims := make([]Claim, 0, len(list.Items))
	for i := range list.Items {
		claims = append(claims, FromObject(&list.Items[i], in))
	}
	return claims, nil
}

// FromObject returns the claim of a resource of a kind whose Go type is not known.
func FromObject(object *unstructured.Unstructured, in cluster.Settings) Claim {
	text := func(fields ...string) string {
		value, _, _ := unstructured.NestedString(object.Object, fields...)
		return value
	}
	port, _, _ := unstructured.NestedInt64(object.Object, "spec", "database", "port")
	data := &commonv1.DataSpec{
		DeletionPolicy: commonv1.DeletionPolicy(text("spec", "deletionPolicy")),
		Database: commonv1.DatabaseSpec{
			Host: text("spec", "database", "host"), Port: int32(port), //nolint:gosec // The schema limits it to 65535.
			Database: text("spec", "database", "database"),
		},
	}
	if name := text("spec", "database", "clusterRef", "name"); name != "" {
		data.Database.ClusterRef = &corev1.LocalObjectReference{Name: name}
	}
	status := &commonv1.ServiceStatus{InstalledRelease: text("status", "installedRelease")}
	return Of(object.GetKind(), described{object, status}, data, in)
}

type described struct {
	*unstructured.Unstructured
	status *commonv1.ServiceStatus
}

func (d described) ServiceStatus() *commonv1.ServiceStatus { return d.status }

// Trim leaves of a resource only what its claim is made of.
func Trim(object *unstructured.Unstructured) {
	kept := Object(object.GroupVersionKind())
	kept.SetNamespace(object.GetNamespace())
	kept.SetName(object.GetName())
	kept.SetUID(object.GetUID())
	kept.SetResourceVersion(object.GetResourceVersion())
	kept.SetCreationTimestamp(object.GetCreationTimestamp())
	kept.SetDeletionTimestamp(object.GetDeletionTimestamp())
	for _, fields := range [][]string{
		{"spec", "deletionPolicy"},
		{"spec", "database", "clusterRef", "name"},
		{"spec", "database", "host"},
		{"spec", "database", "port"},
		{"spec", "database", "database"},
		{"status", "installedRelease"},
	} {
		if value, found, err := unstructured.NestedFieldNoCopy(object.Object, fields...); found && err == nil {
			_ = unstructured.SetNestedField(kept.Object, value, fields...) // It is a scalar below maps that were made here.
		}
	}
	object.Object = kept.Object
}
