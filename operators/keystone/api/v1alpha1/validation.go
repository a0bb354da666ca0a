package v1alpha1

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/rules"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// table has the rules of every service and those of a Keystone alone. It repeats what the
// schema states as markers and CEL, in the same words, and adds what a schema cannot
// state. Rules that need other objects are in the webhook instead.
var table = slices.Concat(commonv1.ServiceRules[*Keystone](AppName, SelectorLabels), commonv1.DataRules[*Keystone](AppName),
	commonv1.OptionsRules[*Keystone](), rules.Table[*Keystone]{
		{Path: "metadata.name", Check: checkName},

		{Path: "spec.fernet.rotationSchedule", Check: rules.Schedule(fernetSchedule)},
		{Path: "spec.fernet.maxActiveKeys", Check: rules.AtLeast(3, fernetKeys)},
		{Path: "spec.credentialKeys.rotationSchedule", Check: rules.Schedule(credentialSchedule)},
		{Path: "spec.credentialKeys.maxActiveKeys", Check: rules.AtLeast(3, credentialKeys)},
		{Path: "spec.trustFlush.schedule", Check: rules.Schedule(trustFlushSchedule)},

		{Path: "spec.bootstrap.adminPasswordSecretRef", Check: checkAdminPasswordSecretRef},
		{Path: "spec.bootstrap.publicEndpoint", Check: checkPublicEndpoint},
		{Path: "spec.bootstrap.passwordRotation.schedule", Check: rules.Schedule(passwordRotationSchedule)},
		{Path: "spec.bootstrap.passwordRotation.passwordLength", Check: rules.Between(24, 1024, passwordLength)},

		{Path: "spec.proxyImage", Check: checkProxyImage},
		{Path: "spec.trustedDashboards", Check: checkDashboards},
		{Path: "spec.middleware", Check: checkMiddleware},
		{Path: "spec.plugins", Check: checkPlugins},
		{Path: "spec.extraConfig", Check: checkExtraConfig},
		{Path: "spec.globalExtraConfig", Check: checkGlobalExtraConfig},
		{Path: "spec.extraConfigSecretRef", Check: checkExtraConfigSecretRef},
	})

// Limits are the rules that refuse new values only.
var Limits = append(commonv1.ServiceLimits[*Keystone](),
	rules.AtMost("spec.fernet.maxActiveKeys", MaxActiveKeys, func(k *Keystone) *int32 { return &k.Spec.Fernet.MaxActiveKeys }),
	rules.AtMost("spec.credentialKeys.maxActiveKeys", MaxActiveKeys, func(k *Keystone) *int32 { return &k.Spec.CredentialKeys.MaxActiveKeys }),
	rules.Text("spec.bootstrap.publicEndpoint", func(k *Keystone) string { return k.Spec.Bootstrap.PublicEndpoint }, commonv1.ValidateURLText),
)

// Outdated describes the values of a Keystone that a new one could not have, "" if there
// are none.
func Outdated(k *Keystone) string { return Limits.Outdated(k) }

// Validate returns everything that is wrong with a Keystone on its own, that
// is, without looking at other objects. It expects an object that SetDefaults
// has been applied to.
func Validate(k *Keystone) field.ErrorList {
	return table.Validate(k)
}

// unlessZero passes over a zero, which stands for a default not yet filled in.
func unlessZero[T cmp.Ordered](value *T) *T {
	var zero T
	if *value == zero {
		return nil
	}
	return value
}

func fernetSchedule(k *Keystone) *string { return &k.Spec.Fernet.RotationSchedule }

func credentialSchedule(k *Keystone) *string { return &k.Spec.CredentialKeys.RotationSchedule }

func fernetKeys(k *Keystone) *int32 { return unlessZero(&k.Spec.Fernet.MaxActiveKeys) }

func credentialKeys(k *Keystone) *int32 { return unlessZero(&k.Spec.CredentialKeys.MaxActiveKeys) }

func trustFlushSchedule(k *Keystone) *string {
	if k.Spec.TrustFlush == nil {
		return nil
	}
	return &k.Spec.TrustFlush.Schedule
}

func passwordRotationSchedule(k *Keystone) *string {
	if !k.Spec.PasswordRotationEnabled() {
		return nil
	}
	return &k.Spec.Bootstrap.PasswordRotation.Schedule
}

func passwordLength(k *Keystone) *int32 {
	if !k.Spec.PasswordRotationEnabled() {
		return nil
	}
	return &k.Spec.Bootstrap.PasswordRotation.PasswordLength
}

// The API server refuses a CronJob whose name is longer than 52 characters, and
// the longest name a Keystone's CronJobs have is its own plus one of these.
const (
	maxCronJobName         = 52
	longestSuffix          = "-credential-rotate"
	passwordRotationSuffix = "-admin-password-rotate"
)

// checkName ignores an empty name, because the API server may still generate one.
func checkName(k *Keystone, at *field.Path) field.ErrorList {
	if k.Name == "" {
		return nil
	}
	errs := commonv1.ValidateServiceName(k.Name, "it becomes the name of a Service", at)
	limit, with := maxCronJobName-len(longestSuffix), ""
	if k.Spec.PasswordRotationEnabled() {
		limit, with = maxCronJobName-len(passwordRotationSuffix), " with passwordRotation"
	}
	if len(k.Name) > limit {
		errs = append(errs, field.Invalid(at, k.Name,
			fmt.Sprintf("name must be no longer than %d characters%s: CronJobs are named after it", limit, with)))
	}
	return errs
}

func checkAdminPasswordSecretRef(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateSecretRef(k.Spec.Bootstrap.AdminPasswordSecretRef, at)
}

func checkProxyImage(k *Keystone, at *field.Path) field.ErrorList {
	if k.Spec.ProxyImage == nil {
		return nil
	}
	return commonv1.ValidateImage(*k.Spec.ProxyImage, "keystone-proxy", at)
}

func checkDashboards(k *Keystone, at *field.Path) (errs field.ErrorList) {
	for i, dashboard := range k.Spec.TrustedDashboards {
		if slices.Index(k.Spec.TrustedDashboards, dashboard) < i {
			errs = append(errs, field.Duplicate(at.Index(i), dashboard))
		}
		errs = append(errs, unless(dashboardURL.MatchString(dashboard), at.Index(i), dashboard,
			"it must be https:// or http:// with a host, and maybe a port and a path")...)
	}
	return errs
}

func checkPublicEndpoint(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidatePublicEndpoint(k.Spec.Bootstrap.PublicEndpoint, k.Spec.Gateway, at)
}

// unless returns an error at the field unless all is well.
func unless(ok bool, at *field.Path, value any, says string) field.ErrorList {
	if ok {
		return nil
	}
	return field.ErrorList{field.Invalid(at, value, says)}
}
