package types

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// DataDescriber is a resource whose service has a database.
//
// +kubebuilder:object:generate=false
type DataDescriber interface {
	// DataSpec returns the part of the spec about the database.
	DataSpec() *DataSpec
}

// DataOf returns the part of a resource's spec about its database, nil if its service has
// none.
func DataOf(resource any) *DataSpec {
	if describer, has := resource.(DataDescriber); has {
		return describer.DataSpec()
	}
	return nil
}

// SetDefaults sets the defaults of the schema, for objects that no API server has
// defaulted. It is idempotent.
func (d *DataSpec) SetDefaults() { d.Database.SetDefaults() }

// KeepsData reports whether the database stays when the resource is deleted.
func (d *DataSpec) KeepsData() bool {
	return d.DeletionPolicy == DeletionPolicyRetain || !d.Database.IsManaged()
}

// DataRules returns the rules of every API service with a database, in addition to
// [ServiceRules].
func DataRules[T DataDescriber](service string) rules.Table[T] {
	return rules.Table[T]{
		{Path: "spec.database", Check: func(r T, at *field.Path) field.ErrorList {
			return ValidateDatabase(r.DataSpec().Database, service, at)
		}},
		{Path: "spec.deletionPolicy", Check: func(r T, at *field.Path) field.ErrorList {
			return CheckDeletionPolicy(r.DataSpec().DeletionPolicy, at)
		}},
	}
}

// DataImmutables returns the fields that are immutable in every API service with a
// database. Changing one would orphan the data of the old value.
func DataImmutables[T DataDescriber]() []rules.Immutable[T] {
	return []rules.Immutable[T]{
		{
			Path: "spec.database.database", Message: "database name is immutable",
			Get: func(r T) any { return r.DataSpec().Database.Database },
		},
		{
			Path: "spec.database", Message: "database mode (managed clusterRef vs brownfield host) is immutable",
			Get: func(r T) any { return r.DataSpec().Database.IsManaged() },
		},
	}
}
