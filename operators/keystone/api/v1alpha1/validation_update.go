package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// immutables are the fields a stored Keystone keeps. To change one would leave
// the data, the users or the catalog of the old value behind.
var immutables = []struct {
	path    string
	message string
	get     func(*KeystoneSpec) any
}{
	{"spec.database.database", "database name is immutable", func(s *KeystoneSpec) any { return s.Database.Database }},
	{
		"spec.database", "database mode (managed clusterRef vs brownfield host) is immutable",
		func(s *KeystoneSpec) any { return s.Database.IsManaged() },
	},
	{"spec.bootstrap.adminUser", "bootstrap.adminUser is immutable", func(s *KeystoneSpec) any { return s.Bootstrap.AdminUser }},
	{"spec.bootstrap.region", "bootstrap.region is immutable", func(s *KeystoneSpec) any { return s.Bootstrap.Region }},
}

// ValidateUpdate returns what is wrong with replacing one Keystone by another,
// beside what Validate finds wrong with the new one. Both objects carry their
// defaults.
func ValidateUpdate(old, updated *Keystone) field.ErrorList {
	var errs field.ErrorList
	for _, immutable := range immutables {
		value := immutable.get(&updated.Spec)
		if value == immutable.get(&old.Spec) {
			continue
		}
		var shown any = field.OmitValueType{}
		if text, ok := value.(string); ok {
			shown = text
		}
		errs = append(errs, field.Invalid(fieldPath(immutable.path), shown, immutable.message))
	}
	return errs
}
