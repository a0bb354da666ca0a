package v1alpha1

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/c5c3/forge/internal/common/schedule"
	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// rule is one line of what must hold for a Keystone: the field it is about and
// the check, which reports its errors at or below that field.
type rule struct {
	path  string
	check check
}

type check func(k *Keystone, at *field.Path) field.ErrorList

// rules repeats what the schema states as markers and CEL, in the same words,
// and adds what a schema cannot state. Only what needs other objects is not
// here but in the webhook.
var rules = []rule{
	{"metadata.name", checkName},

	{"spec.replicas", atLeast(1, func(s *KeystoneSpec) *int32 { return &s.Replicas })},
	{"spec.image", checkImage},
	{"spec.imagePullSecrets", checkImagePullSecrets},
	{"spec.database", checkDatabase},
	{"spec.cache", checkCache},
	{"spec.deletionPolicy", checkDeletionPolicy},

	{"spec.fernet.rotationSchedule", cron(func(s *KeystoneSpec) *string { return &s.Fernet.RotationSchedule })},
	{"spec.fernet.maxActiveKeys", atLeast(3, func(s *KeystoneSpec) *int32 { return unlessZero(&s.Fernet.MaxActiveKeys) })},
	{"spec.credentialKeys.rotationSchedule", cron(func(s *KeystoneSpec) *string { return &s.CredentialKeys.RotationSchedule })},
	{"spec.credentialKeys.maxActiveKeys", atLeast(3, func(s *KeystoneSpec) *int32 { return unlessZero(&s.CredentialKeys.MaxActiveKeys) })},
	{"spec.trustFlush.schedule", cron(trustFlushSchedule)},

	{"spec.bootstrap.adminPasswordSecretRef", checkAdminPasswordSecretRef},
	{"spec.bootstrap.publicEndpoint", checkPublicEndpoint},
	{"spec.bootstrap.passwordRotation.schedule", cron(passwordRotationSchedule)},
	{"spec.bootstrap.passwordRotation.passwordLength", between(24, 1024, passwordLength)},

	{"spec.middleware", checkMiddleware},
	{"spec.plugins", checkPlugins},
	{"spec.policyOverrides", checkPolicyOverrides},
	{"spec.logging.format", checkLogFormat},
	{"spec.logging.level", checkLogLevel},
	{"spec.logging.perLoggerLevels", checkPerLoggerLevels},
	{"spec.extraConfig", checkExtraConfig},
	{"spec.extraConfigSecretRef", checkExtraConfigSecretRef},

	{"spec.autoscaling", checkAutoscalingTargets},
	{"spec.autoscaling.minReplicas", checkMinReplicas},
	{"spec.autoscaling.maxReplicas", checkMaxReplicas},
	{"spec.autoscaling.targetCPUUtilization", between(1, 100, targetCPU)},
	{"spec.autoscaling.targetMemoryUtilization", between(1, 100, targetMemory)},
	{"spec.networkPolicy.ingress", checkIngress},
	{"spec.gateway", checkGateway},

	{"spec.uwsgi.processes", between(1, 256, uwsgiProcesses)},
	{"spec.uwsgi.threads", between(1, 256, uwsgiThreads)},
	{"spec.uwsgi.httpKeepAliveTimeout", checkKeepAliveTimeout},
	{"spec.uwsgi.harakiri", checkHarakiri},
	{"spec.terminationGracePeriodSeconds", atLeast(10, func(s *KeystoneSpec) *int64 { return s.TerminationGracePeriodSeconds })},
	{"spec.preStopSleepSeconds", checkPreStopSleep},
	{"spec.strategy", checkStrategy},
	{"spec.resources", checkResources},
	{"spec.topologySpreadConstraints", checkTopologySpread},
	{"spec.priorityClassName", checkPriorityClassName},
}

// Validate returns everything that is wrong with a Keystone on its own, that
// is, without looking at other objects. It expects an object that SetDefaults
// has been applied to.
func Validate(k *Keystone) field.ErrorList {
	var errs field.ErrorList
	for _, r := range rules {
		errs = append(errs, r.check(k, fieldPath(r.path))...)
	}
	// Some rules go through maps. The same object must always read the same,
	// because the text ends up in its status.
	slices.SortStableFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

func fieldPath(path string) *field.Path {
	segments := strings.Split(path, ".")
	return field.NewPath(segments[0], segments[1:]...)
}

func leaf(at *field.Path) string {
	path := at.String()
	return path[strings.LastIndex(path, ".")+1:]
}

// atLeast checks a number that is not nil.
func atLeast[T int32 | int64](minimum T, get func(*KeystoneSpec) *T) check {
	return func(k *Keystone, at *field.Path) field.ErrorList {
		if value := get(&k.Spec); value != nil && *value < minimum {
			return field.ErrorList{field.Invalid(at, *value, fmt.Sprintf("%s must be at least %d", leaf(at), minimum))}
		}
		return nil
	}
}

// between checks a number that is not nil.
func between[T int32 | int64](minimum, maximum T, get func(*KeystoneSpec) *T) check {
	return func(k *Keystone, at *field.Path) field.ErrorList {
		value := get(&k.Spec)
		switch {
		case value == nil:
			return nil
		case *value < minimum:
			return field.ErrorList{field.Invalid(at, *value, fmt.Sprintf("%s must be at least %d", leaf(at), minimum))}
		case *value > maximum:
			return field.ErrorList{field.Invalid(at, *value, fmt.Sprintf("%s must be at most %d", leaf(at), maximum))}
		}
		return nil
	}
}

// cron checks a schedule that is not nil.
func cron(get func(*KeystoneSpec) *string) check {
	return func(k *Keystone, at *field.Path) field.ErrorList {
		expr := get(&k.Spec)
		if expr == nil {
			return nil
		}
		if *expr == "" {
			return field.ErrorList{field.Required(at, `set a cron expression with five fields, for example "0 0 * * 0"`)}
		}
		if err := schedule.Validate(*expr); err != nil {
			return field.ErrorList{field.Invalid(at, *expr, err.Error())}
		}
		return nil
	}
}

// unlessZero passes over a zero, which stands for a default not yet filled in.
func unlessZero[T cmp.Ordered](value *T) *T {
	var zero T
	if *value == zero {
		return nil
	}
	return value
}

func trustFlushSchedule(s *KeystoneSpec) *string {
	if s.TrustFlush == nil {
		return nil
	}
	return &s.TrustFlush.Schedule
}

func passwordRotationSchedule(s *KeystoneSpec) *string {
	if !s.PasswordRotationEnabled() {
		return nil
	}
	return &s.Bootstrap.PasswordRotation.Schedule
}

func passwordLength(s *KeystoneSpec) *int32 {
	if !s.PasswordRotationEnabled() {
		return nil
	}
	return &s.Bootstrap.PasswordRotation.PasswordLength
}

// The API server refuses a CronJob whose name is longer than 52 characters, and
// the longest name a Keystone's CronJobs have is its own plus one of these.
const (
	maxCronJobName         = 52
	longestSuffix          = "-credential-rotate"
	passwordRotationSuffix = "-admin-password-rotate"
)

// A Service's name is a DNS label as RFC 1035 has it.
var serviceName = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

// checkName leaves an empty name to the API server, which may yet generate one.
func checkName(k *Keystone, at *field.Path) field.ErrorList {
	if k.Name == "" {
		return nil
	}
	var errs field.ErrorList
	if !serviceName.MatchString(k.Name) {
		errs = append(errs, field.Invalid(at, k.Name,
			"name must start with a letter and consist of lower case letters, digits and dashes: it becomes the name of a Service"))
	}
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

func checkImage(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateImage(k.Spec.Image, at)
}

func checkImagePullSecrets(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateImagePullSecrets(k.Spec.ImagePullSecrets, at)
}

func checkDatabase(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateDatabase(k.Spec.Database, at)
}

func checkCache(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateCache(k.Spec.Cache, at)
}

func checkAdminPasswordSecretRef(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateSecretRef(k.Spec.Bootstrap.AdminPasswordSecretRef, at)
}

func checkPublicEndpoint(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidatePublicEndpoint(k.Spec.Bootstrap.PublicEndpoint, k.Spec.Gateway, at)
}

func checkGateway(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidateGateway(k.Spec.Gateway, at)
}

func checkPolicyOverrides(k *Keystone, at *field.Path) field.ErrorList {
	return commonv1.ValidatePolicy(k.Spec.PolicyOverrides, at)
}
