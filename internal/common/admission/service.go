package admission

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/apply"
	"github.com/c5c3/forge/internal/common/cluster"
	"github.com/c5c3/forge/internal/common/sharing"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// ServiceResource is a resource of an API service.
type ServiceResource interface {
	comparable
	client.Object
	commonv1.Describer
	ServiceStatus() *commonv1.ServiceStatus
}

// ServiceLookup validates the resources of an API service against other objects.
type ServiceLookup[T ServiceResource] struct {
	// NewList returns an empty list of the kind.
	NewList func() client.ObjectList
	// Cluster tells which DNS names refer to the same Service.
	Cluster cluster.Settings
}

// Check is the Lookup of a [Webhook]. It rejects a PriorityClass that does not exist and
// a database, if the service has one, that another resource has, whatever its kind.
func (s ServiceLookup[T]) Check(ctx context.Context, reader client.Reader, old, updated T) field.ErrorList {
	var none T
	var class *string
	var before *commonv1.DataSpec
	if old != none {
		class, before = old.ServiceSpec().PriorityClassName, commonv1.DataOf(old)
	}
	errs := CheckPriorityClass(ctx, reader, class, updated.ServiceSpec().PriorityClassName)
	if commonv1.DataOf(updated) != nil {
		errs = append(errs, s.checkDatabase(ctx, reader, before, updated)...)
	}
	return errs
}

// checkDatabase rejects a database that another resource has. before is the database of
// the stored resource, nil on creation; an unchanged database is not rejected.
func (s ServiceLookup[T]) checkDatabase(
	ctx context.Context, reader client.Reader, before *commonv1.DataSpec, updated T,
) field.ErrorList {
	newcomer := s.claim(updated)
	if before != nil && before.Database.Identity(s.Cluster, updated.GetNamespace()).String() == newcomer.Database.String() {
		return nil
	}
	path := field.NewPath("spec", "database")
	others, err := s.claims(ctx, reader, newcomer)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	for _, other := range others {
		if !other.Is(newcomer) && other.Database.Same(newcomer.Database) && other.Refuses(newcomer) {
			return field.ErrorList{field.Forbidden(path, fmt.Sprintf("%s has the database %s; choose another name",
				other, commonv1.DataOf(updated).Database.Database))}
		}
	}
	return nil
}

// claims returns the claims of all resources to their databases.
func (s ServiceLookup[T]) claims(ctx context.Context, reader client.Reader, newcomer sharing.Claim) ([]sharing.Claim, error) {
	claims, err := s.ownKind(ctx, reader, newcomer)
	if err != nil {
		return nil, err
	}
	for _, kind := range sharing.Others(newcomer.Kind) {
		others, err := sharing.List(ctx, reader, kind, s.Cluster, newcomer.Namespace)
		if err != nil {
			return nil, err
		}
		claims = append(claims, others...)
	}
	return claims, nil
}

// ownKind returns the claims of the resources of the same kind. An operator of a single
// namespace can only read resources there.
func (s ServiceLookup[T]) ownKind(ctx context.Context, reader client.Reader, newcomer sharing.Claim) ([]sharing.Claim, error) {
	others, err := apply.List[T](ctx, reader, s.NewList())
	if apierrors.IsForbidden(err) {
		others, err = apply.List[T](ctx, reader, s.NewList(), client.InNamespace(newcomer.Namespace))
	}
	if err != nil {
		return nil, fmt.Errorf("listing the %ss: %w", newcomer.Kind, err)
	}
	claims := make([]sharing.Claim, 0, len(others))
	for _, other := range others {
		claims = append(claims, s.claim(other))
	}
	return claims, nil
}

func (s ServiceLookup[T]) claim(resource T) sharing.Claim {
	// A scheme calls a kind like its Go type.
	return sharing.Of(reflect.TypeFor[T]().Elem().Name(), resource, commonv1.DataOf(resource), s.Cluster)
}
