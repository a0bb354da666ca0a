package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// immutables are the fields of a Keystone that cannot be changed. A change would leave
// behind the data, the users or the catalog of the old value.
var immutables = append(commonv1.DataImmutables[*Keystone](), []rules.Immutable[*Keystone]{
	{
		Path: "spec.bootstrap.adminUser", Message: "bootstrap.adminUser is immutable",
		Get: func(k *Keystone) any { return k.Spec.Bootstrap.AdminUser },
	},
	{
		Path: "spec.bootstrap.region", Message: "bootstrap.region is immutable",
		Get: func(k *Keystone) any { return k.Spec.Bootstrap.Region },
	},
}...)

// ValidateUpdate returns what is wrong with replacing one Keystone with another, in
// addition to what Validate returns for the new one. Both objects must have their
// defaults.
func ValidateUpdate(old, updated *Keystone) field.ErrorList {
	return rules.Unchanged(immutables, old, updated)
}
