package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// checkGlobalOptions refuses what the Identity service refuses. The others reserve no options.
func checkGlobalOptions(cp *ControlPlane, at *field.Path) field.ErrorList {
	if cp.Spec.Global == nil {
		return nil
	}
	return keystonev1alpha1.ValidateOptions(cp.Spec.Global.ExtraConfig, at)
}
