package admission

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/c5c3/forge/internal/common/cluster"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// Service is a resource of an API service.
type Service interface {
	comparable
	client.Object
	commonv1.Describer
}

// ServiceLookup validates the resources of an API service against other objects.
type ServiceLookup[T Service] struct {
	// NewList returns an empty list of the kind.
	NewList func() client.ObjectList
	// Cluster tells which DNS names refer to the same Service.
	Cluster cluster.Settings
}

// Check is the Lookup of a [Webhook]. It rejects a PriorityClass that does not exist and
// a database that another resource uses.
func (s ServiceLookup[T]) Check(ctx context.Context, reader client.Reader, old, updated T) field.ErrorList {
	var none T
	var class *string
	var database *commonv1.DatabaseSpec
	if old != none {
		class, database = old.ServiceSpec().PriorityClassName, &old.ServiceSpec().Database
	}
	errs := CheckPriorityClass(ctx, reader, class, updated.ServiceSpec().PriorityClassName)
	return append(errs, s.checkDatabase(ctx, reader, database, updated)...)
}

// checkDatabase rejects a database that another resource uses. before is the database of
// the stored resource, nil on creation; an unchanged database is not rejected. An
// operator of a single namespace can only read resources there.
func (s ServiceLookup[T]) checkDatabase(
	ctx context.Context, reader client.Reader, before *commonv1.DatabaseSpec, updated T,
) field.ErrorList {
	database, namespace := updated.ServiceSpec().Database, updated.GetNamespace()
	key := database.Key(s.Cluster, namespace)
	if before != nil && before.Key(s.Cluster, namespace) == key {
		return nil
	}
	// A scheme calls a kind like its Go type.
	kind := reflect.TypeFor[T]().Elem().Name()
	path, all := field.NewPath("spec", "database"), s.NewList()
	err := reader.List(ctx, all)
	if apierrors.IsForbidden(err) {
		err = reader.List(ctx, all, client.InNamespace(namespace))
	}
	if err != nil {
		return field.ErrorList{field.InternalError(path, fmt.Errorf("listing the %ss: %w", kind, err))}
	}
	var errs field.ErrorList
	err = meta.EachListItem(all, func(item runtime.Object) error {
		other, ok := item.(T)
		if !ok {
			return fmt.Errorf("a list of %ss holds %T; this is a bug in the operator", kind, item)
		}
		itself := other.GetNamespace() == namespace && other.GetName() == updated.GetName()
		if len(errs) == 0 && !itself && other.ServiceSpec().Database.Key(s.Cluster, other.GetNamespace()) == key {
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("%s %s of namespace %s has the database %s; choose another name",
				kind, other.GetName(), other.GetNamespace(), database.Database)))
		}
		return nil
	})
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	return errs
}
