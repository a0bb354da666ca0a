package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/sharing"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// IndexDatabase is the field index from the keys of a database to the resources that use
// it.
const IndexDatabase = "spec.database"

// DatabaseOf identifies the resource's database. It is the zero value if the service has
// none.
func DatabaseOf(resource Resource, in cluster.Settings) commonv1.DatabaseIdentity {
	data := commonv1.DataOf(resource)
	if data == nil {
		return commonv1.DatabaseIdentity{}
	}
	return data.Database.Identity(in, resource.GetNamespace())
}

// DatabaseIdentity identifies the database of the pass.
func (p *Pass) DatabaseIdentity() commonv1.DatabaseIdentity { return DatabaseOf(p.Resource, p.Cluster) }

func (p *Pass) claim() sharing.Claim { return sharing.Of(p.Kind, p.Resource, p.Data, p.Cluster) }

// Holder returns the resource that has the database of the pass, if that is another one,
// and until when at most if nothing else changes.
func Holder(ctx context.Context, p *Pass) (holder *sharing.Claim, until time.Time, err error) {
	others, err := sharers(ctx, p)
	if err != nil {
		return nil, until, err
	}
	for _, other := range others {
		precedes, ends := other.Precedes(p.claim(), p.Now())
		switch {
		case precedes && ends.IsZero():
			return &other, ends, nil
		case precedes && ends.After(until):
			holder, until = &other, ends
		}
	}
	return holder, until, nil
}

// SharesData reports whether another resource has data in the database of the pass, or has
// the database itself.
func SharesData(ctx context.Context, p *Pass) (bool, error) {
	others, err := sharers(ctx, p)
	return slices.ContainsFunc(others, func(other sharing.Claim) bool {
		precedes, _ := other.Precedes(p.claim(), p.Now())
		return precedes || other.HasData()
	}), err
}

// sharers returns the claims of all other resources, of any kind, to the database of the
// pass, as far as the operator watches them, the oldest first.
func sharers(ctx context.Context, p *Pass) ([]sharing.Claim, error) {
	found, err := ownKind(ctx, p)
	if err != nil {
		return nil, err
	}
	for _, kind := range sharing.Others(p.Kind) {
		if !p.Kinds.Served(kind) {
			continue
		}
		others, err := sharing.List(ctx, p.Peers, kind, p.Cluster, p.Resource.GetNamespace())
		if err != nil {
			return nil, err
		}
		found = append(found, others...)
	}
	own := p.claim()
	found = slices.DeleteFunc(found, func(other sharing.Claim) bool { return other.Is(own) || !other.Database.Same(own.Database) })
	slices.SortFunc(found, sharing.Claim.Compare)
	return found, nil
}

// ownKind returns the claims of resources of the same kind that may be to the same
// database.
func ownKind(ctx context.Context, p *Pass) ([]sharing.Claim, error) {
	var found []sharing.Claim
	for _, key := range p.DatabaseIdentity().Keys() {
		others, err := apply.List[Resource](ctx, p.Client, p.NewList(), client.MatchingFields{IndexDatabase: key})
		if err != nil {
			return nil, fmt.Errorf("listing the %ss with database %s: %w", p.Kind, p.Data.Database.Database, err)
		}
		for _, other := range others {
			found = append(found, sharing.Of(p.Kind, other, commonv1.DataOf(other), p.Cluster))
		}
	}
	return found, nil
}
