package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
)

// immutables are the fields a stored Keystone keeps. To change one would leave
// the data, the users or the catalog of the old value behind.
var immutables = []rules.Immutable[*Keystone]{
	{
		Path: "spec.database.database", Message: "database name is immutable",
		Get: func(k *Keystone) any { return k.Spec.Database.Database },
	},
	{
		Path: "spec.database", Message: "database mode (managed clusterRef vs brownfield host) is immutable",
		Get: func(k *Keystone) any { return k.Spec.Database.IsManaged() },
	},
	{
		Path: "spec.bootstrap.adminUser", Message: "bootstrap.adminUser is immutable",
		Get: func(k *Keystone) any { return k.Spec.Bootstrap.AdminUser },
	},
	{
		Path: "spec.bootstrap.region", Message: "bootstrap.region is immutable",
		Get: func(k *Keystone) any { return k.Spec.Bootstrap.Region },
	},
}

// ValidateUpdate returns what is wrong with replacing one Keystone by another,
// beside what Validate finds wrong with the new one. Both objects carry their
// defaults.
func ValidateUpdate(old, updated *Keystone) field.ErrorList {
	return rules.Unchanged(immutables, old, updated)
}
