package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	commonv1 "github.com/c5c3/forge/internal/common/types"
)

// The values SetDefaults fills in. The schema states the same ones, so that an
// API server without the webhook applies them, too.
const (
	DefaultReplicas         int32 = 3
	DefaultMaxActiveKeys    int32 = 3
	DefaultRotationSchedule       = "0 0 * * 0"

	DefaultTrustFlushSchedule = "0 * * * *"

	DefaultAdminUser              = "admin"
	DefaultRegion                 = "RegionOne"
	DefaultPasswordSchedule       = "0 0 1 * *"
	DefaultPasswordLength   int32 = 32

	DefaultUWSGIProcesses     int32 = 2
	DefaultUWSGIThreads       int32 = 1
	DefaultUWSGIHTTPKeepAlive       = true

	DefaultLogFormat = LogFormatText
	DefaultLogLevel  = LogLevelInfo
)

// The values that apply to fields which stay unset, in seconds. They are not
// written into the object, so that a later release may choose better ones.
const (
	DefaultTerminationGracePeriodSeconds int64 = 30
	DefaultPreStopSleepSeconds           int64 = 5
)

// SetDefaults fills in every unset field that has a default and leaves the rest
// alone. Doing it twice changes nothing more. It runs in the mutating webhook
// and again at the start of a reconcile pass, because an object may have been
// stored while the webhook was off.
func SetDefaults(k *Keystone) {
	spec := &k.Spec
	commonv1.SetIfZero(&spec.Replicas, DefaultReplicas)
	spec.Cache.SetDefaults()
	spec.Database.SetDefaults()
	defaultKeys(spec)
	defaultTrustFlush(spec)
	defaultBootstrap(&spec.Bootstrap)
	defaultUWSGI(spec.UWSGI)
	defaultLogging(spec)
	defaultResources(spec)
}

// defaultKeys treats a schedule that is empty in an otherwise filled block as
// a mistake: the schema fills in an absent one, so an empty one was written by
// someone, and validation asks for it.
func defaultKeys(spec *KeystoneSpec) {
	if spec.Fernet == (FernetSpec{}) {
		spec.Fernet.RotationSchedule = DefaultRotationSchedule
	}
	if spec.CredentialKeys == (CredentialKeysSpec{}) {
		spec.CredentialKeys.RotationSchedule = DefaultRotationSchedule
	}
	commonv1.SetIfZero(&spec.Fernet.MaxActiveKeys, DefaultMaxActiveKeys)
	commonv1.SetIfZero(&spec.CredentialKeys.MaxActiveKeys, DefaultMaxActiveKeys)
}

func defaultTrustFlush(spec *KeystoneSpec) {
	if spec.TrustFlush == nil {
		spec.TrustFlush = &TrustFlushSpec{Schedule: DefaultTrustFlushSchedule}
	}
}

func defaultBootstrap(bootstrap *BootstrapSpec) {
	commonv1.SetIfZero(&bootstrap.AdminUser, DefaultAdminUser)
	commonv1.SetIfZero(&bootstrap.Region, DefaultRegion)
	if rotation := bootstrap.PasswordRotation; rotation != nil {
		commonv1.SetIfZero(&rotation.Schedule, DefaultPasswordSchedule)
		commonv1.SetIfZero(&rotation.PasswordLength, DefaultPasswordLength)
	}
}

func defaultUWSGI(uwsgi *UWSGISpec) {
	if uwsgi == nil {
		return
	}
	commonv1.SetIfZero(&uwsgi.Processes, DefaultUWSGIProcesses)
	commonv1.SetIfZero(&uwsgi.Threads, DefaultUWSGIThreads)
	commonv1.SetIfZero(&uwsgi.HTTPKeepAlive, new(DefaultUWSGIHTTPKeepAlive))
}

func defaultLogging(spec *KeystoneSpec) {
	if spec.Logging == nil {
		spec.Logging = &LoggingSpec{}
	}
	commonv1.SetIfZero(&spec.Logging.Format, DefaultLogFormat)
	commonv1.SetIfZero(&spec.Logging.Level, DefaultLogLevel)
}

// DefaultCPULimit is the CPU limit of an API pod for which the spec asks for no
// resources.
var DefaultCPULimit = resource.MustParse("500m")

func defaultResources(spec *KeystoneSpec) {
	if spec.Resources == nil {
		spec.Resources = &corev1.ResourceRequirements{}
	}
	if len(spec.Resources.Requests) > 0 || len(spec.Resources.Limits) > 0 {
		return
	}
	spec.Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("100m"),
		corev1.ResourceMemory: resource.MustParse("256Mi"),
	}
	spec.Resources.Limits = corev1.ResourceList{
		corev1.ResourceCPU:    DefaultCPULimit.DeepCopy(),
		corev1.ResourceMemory: resource.MustParse("512Mi"),
	}
}
