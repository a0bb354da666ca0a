package service

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
)

// IndexDatabase is the field index from the key of a database to the resources that use
// it.
const IndexDatabase = "spec.database"

// DatabaseKey identifies the resource's database.
func DatabaseKey(resource Resource, in cluster.Settings) string {
	return resource.ServiceSpec().Database.Key(in, resource.GetNamespace())
}

// Sharers returns the resources that use the same database, including this one, as far as
// the operator watches them.
func Sharers(ctx context.Context, p *Pass) ([]Resource, error) {
	list := p.NewList()
	err := p.Client.List(ctx, list, client.MatchingFields{IndexDatabase: DatabaseKey(p.Resource, p.Cluster)})
	if err != nil {
		return nil, fmt.Errorf("listing the %ss with database %s: %w", p.Kind, p.Spec.Database.Database, err)
	}
	var sharers []Resource
	err = meta.EachListItem(list, func(item runtime.Object) error {
		sharer, ok := item.(Resource)
		if !ok {
			return fmt.Errorf("a list of %ss holds %T; this is a bug in the operator", p.Kind, item)
		}
		sharers = append(sharers, sharer)
		return nil
	})
	return sharers, err
}

// SharesData reports whether another resource, which is not being deleted, keeps data in
// the same database. A resource without an installed release was refused before it could
// write any.
func SharesData(ctx context.Context, p *Pass) (bool, error) {
	sharers, err := Sharers(ctx, p)
	return slices.ContainsFunc(sharers, func(other Resource) bool {
		return other.GetUID() != p.Resource.GetUID() && other.GetDeletionTimestamp().IsZero() && other.ServiceStatus().InstalledRelease != ""
	}), err
}

// OldestOf returns the resource that was created first; resources created in the same
// second are ordered by namespace and name. It returns nil for an empty list.
func OldestOf(resources []Resource) Resource {
	if len(resources) == 0 {
		return nil
	}
	return slices.MinFunc(resources, func(a, b Resource) int {
		return cmp.Or(a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time),
			cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
}
