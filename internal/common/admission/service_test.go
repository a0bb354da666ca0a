package admission

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/c5c3/forge/internal/common/testutil/instance"
)

func TestADatabaseOfAnotherResourceIsRefused(t *testing.T) {
	older, younger := instance.Brownfield(), instance.Brownfield()
	older.Namespace, older.Name = "other", "older"
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
