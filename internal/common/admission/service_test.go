package admission

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func TestADatabaseOfAnotherResourceIsRefused(t *testing.T) {
	older, younger := instance.Brownfield(), instance.Brownfield()
	older.Namespace, older.Name, older.Status.InstalledRelease = "other", "older", "2025.2"
	elsewhere, before := instance.Brownfield(), instance.Brownfield()
	elsewhere.Spec.Database.Database = "another"
	before.Spec.Database.Host = "elsewhere.example.com"
	// An operator of a single namespace must not list resources of other namespaces.
	ofOne := interceptor.Funcs{List: func(
		ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption,
	) error {
		if (&client.ListOptions{}).ApplyOptions(opts).Namespace == "" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "harbours"}, "", nil)
		}
		return c.List(ctx, list, opts...)
	}}
	away := interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
		return errors.New("connection refused")
	}}
	lookup := ServiceLookup[*instance.Harbour]{NewList: instance.NewList}
	for name, c := range map[string]struct {
		funcs        interceptor.Funcs
		old, updated *instance.Harbour
		want         string
	}{
		"a new one": {
			updated: younger,
			want:    "spec.database: Forbidden: Harbour older of namespace other has the database harbour; choose another name",
		},
		"a new one with another database":    {updated: elsewhere},
		"one that comes to it":               {old: before, updated: younger, want: "spec.database: Forbidden"},
		"one that has had it":                {funcs: away, old: younger, updated: younger},
		"the one that has it":                {updated: older},
		"the operator of one namespace":      {funcs: ofOne, updated: younger},
		"an API server that does not answer": {funcs: away, updated: younger, want: "spec.database: Internal error"},
	} {
		reader := fake.NewClientBuilder().WithScheme(instance.Scheme(t)).WithObjects(older).WithInterceptorFuncs(c.funcs).Build()
		err := lookup.Check(t.Context(), reader, c.old, c.updated).ToAggregate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// keystone is a Keystone, which the operator of Harbours does not know as a Go type.
func keystone(release string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "keystone.openstack.c5c3.io/v1alpha1", "kind": "Keystone",
		"metadata": map[string]any{"namespace": "openstack", "name": "keystone"},
		"spec": map[string]any{"database": map[string]any{
			"clusterRef": map[string]any{"name": "mariadb"}, "database": "harbour",
		}},
		"status": map[string]any{"installedRelease": release},
	}}
}

func TestADatabaseOfAnotherKindIsRefused(t *testing.T) {
	lookup := ServiceLookup[*instance.Harbour]{NewList: instance.NewList}
	for name, c := range map[string]struct {
		host, namespace, want string
		err                   error
	}{
		"by its Service":        {host: "mariadb", namespace: "openstack", want: "Keystone keystone of namespace openstack has the database"},
		"by that of a replica":  {host: "mariadb-secondary.openstack.svc", namespace: "other", want: "Keystone keystone"},
		"another server":        {host: "other", namespace: "openstack"},
		"a kind that is absent": {host: "mariadb", namespace: "openstack", err: &meta.NoKindMatchError{}},
		"a kind that it must not read": {
			host: "mariadb", namespace: "openstack", err: apierrors.NewForbidden(schema.GroupResource{Resource: "keystones"}, "", nil),
		},
		"a kind that cannot be read": {host: "mariadb", namespace: "openstack", err: errors.New("connection refused"), want: "Internal error"},
	} {
		funcs := interceptor.Funcs{List: func(
			ctx context.Context, r client.WithWatch, list client.ObjectList, opts ...client.ListOption,
		) error {
			if _, other := list.(*unstructured.UnstructuredList); other && c.err != nil {
				return c.err
			}
			return r.List(ctx, list, opts...)
		}}
		reader := fake.NewClientBuilder().WithScheme(instance.Scheme(t)).WithObjects(keystone("")).WithInterceptorFuncs(funcs).Build()
		h := instance.Brownfield()
		h.Namespace, h.Spec.Database.Host = c.namespace, c.host
		err := lookup.Check(t.Context(), reader, nil, h).ToAggregate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestAForeignNamespaceCannotClaimADatabaseByNamingItsHost(t *testing.T) {
	squatter, managed := instance.Brownfield(), instance.Brownfield()
	squatter.Namespace, squatter.Spec.Database.Host = "attacker", "openstack-db.openstack.svc"
	managed.Spec.Database.Host, managed.Spec.Database.ClusterRef = "", &corev1.LocalObjectReference{Name: "openstack-db"}
	lookup := ServiceLookup[*instance.Harbour]{NewList: instance.NewList}
	for _, release := range []string{"", "2025.2"} {
		squatter.Status.InstalledRelease = release
		reader := fake.NewClientBuilder().WithScheme(instance.Scheme(t)).WithObjects(squatter.DeepCopyObject().(client.Object)).Build()
		if err := lookup.Check(t.Context(), reader, nil, managed).ToAggregate(); err != nil {
			t.Errorf("beside a squatter of release %q: %v", release, err)
		}
	}
	squatter.Status.InstalledRelease, squatter.Spec.Database.Host = "", "db.example.com"
	reader := fake.NewClientBuilder().WithScheme(instance.Scheme(t)).WithObjects(squatter).Build()
	if err := lookup.Check(t.Context(), reader, nil, instance.Brownfield()).ToAggregate(); err != nil {
		t.Errorf("beside a squatter without a login: %v", err)
	}
}
