package report

import (
	"cmp"
	"fmt"

	commonv1 "github.com/c5c3/forge/internal/common/types"
	"github.com/c5c3/forge/internal/common/vocabulary"
	"github.com/c5c3/forge/kubectl-forge/internal/inventory"
	keystonev1alpha1 "github.com/c5c3/forge/operators/keystone/api/v1alpha1"
)

// ownRemedies returns the commands that help with a cause that not every kind of service
// has.
func (b *builder) ownRemedies(cause Cause, service inventory.Service) []string {
	switch resource := service.Resource.(type) {
	case *keystonev1alpha1.Keystone:
		return keystoneRemedies(cause, resource)
	case commonv1.ServiceUserDescriber:
		return b.userRemedies(cause, resource.ServiceUser().SecretRef, service)
	}
	return nil
}

func keystoneRemedies(cause Cause, k *keystonev1alpha1.Keystone) []string {
	ns, password := k.Namespace, k.Spec.Bootstrap.AdminPasswordSecretRef
	switch cause.Reason {
	case keystonev1alpha1.ReasonWaitingForAdminCredentials:
		return createSecret(ns, password.Name, "", cmp.Or(password.Key, "password"))
	case keystonev1alpha1.ReasonAdminPasswordRefused:
		return []string{kubectl(ns, fmt.Sprintf("annotate keystone %s --overwrite %s=\"$(date +%%s)\"",
			k.Name, keystonev1alpha1.AnnotationRunAgain))}
	case keystonev1alpha1.ReasonAdminPasswordWriteNotAllowed:
		return []string{kubectl(ns, fmt.Sprintf("label secret %s %s=true", password.Name, commonv1.LabelAllowWrite))}
	case keystonev1alpha1.ReasonRotationFailed:
		if what := rotationOf[cause.Condition]; what != "" {
			return []string{fmt.Sprintf("kubectl forge rotate %s %s", what, onTarget(cause.owner))}
		}
	}
	return nil
}

// rotationOf returns what has to be rotated again if the condition says that a
// rotation failed.
var rotationOf = map[string]string{
	keystonev1alpha1.ConditionFernetKeysReady:       "fernet",
	keystonev1alpha1.ConditionCredentialKeysReady:   "credential",
	keystonev1alpha1.ConditionPasswordRotationReady: "password",
}

func (b *builder) userRemedies(cause Cause, user *commonv1.SecretRefSpec, service inventory.Service) []string {
	ns := service.Resource.GetNamespace()
	switch cause.Reason {
	case vocabulary.ReasonWaitingForServiceUser:
		return createSecret(ns, user.Name, "--from-literal=username=USER", cmp.Or(user.Key, "password"))
	case vocabulary.ReasonServiceUserRefused:
		return b.abortOr(service, kubectl(ns, "edit secret "+user.Name))
	}
	return nil
}
