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
	setIfZero(&spec.Replicas, DefaultReplicas)
	defaultCache(&spec.Cache)
	defaultDatabase(&spec.Database)
	defaultKeys(spec)
	defaultTrustFlush(spec)
	defaultBootstrap(&spec.Bootstrap)
	defaultUWSGI(spec.UWSGI)
	defaultLogging(spec)
	defaultResources(spec)
}

func setIfZero[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func defaultCache(cache *commonv1.CacheSpec) {
	setIfZero(&cache.Backend, commonv1.DefaultCacheBackend)
	setIfZero(&cache.Replicas, commonv1.DefaultCacheReplicas)
}

func defaultDatabase(db *commonv1.DatabaseSpec) {
	if db.TLS != nil {
		setIfZero(&db.TLS.Mode, commonv1.DatabaseTLSRequire)
	}
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
	setIfZero(&spec.Fernet.MaxActiveKeys, DefaultMaxActiveKeys)
	setIfZero(&spec.CredentialKeys.MaxActiveKeys, DefaultMaxActiveKeys)
}

func defaultTrustFlush(spec *KeystoneSpec) {
	if spec.TrustFlush == nil {
		spec.TrustFlush = &TrustFlushSpec{Schedule: DefaultTrustFlushSchedule}
	}
}

func defaultBootstrap(bootstrap *BootstrapSpec) {
	setIfZero(&bootstrap.AdminUser, DefaultAdminUser)
	setIfZero(&bootstrap.Region, DefaultRegion)
	if rotation := bootstrap.PasswordRotation; rotation != nil {
		setIfZero(&rotation.Schedule, DefaultPasswordSchedule)
		setIfZero(&rotation.PasswordLength, DefaultPasswordLength)
	}
}

func defaultUWSGI(uwsgi *UWSGISpec) {
	if uwsgi == nil {
		return
	}
	setIfZero(&uwsgi.Processes, DefaultUWSGIProcesses)
	setIfZero(&uwsgi.Threads, DefaultUWSGIThreads)
	setIfZero(&uwsgi.HTTPKeepAlive, new(DefaultUWSGIHTTPKeepAlive))
}

func defaultLogging(spec *KeystoneSpec) {
	if spec.Logging == nil {
		spec.Logging = &LoggingSpec{}
	}
	setIfZero(&spec.Logging.Format, DefaultLogFormat)
	setIfZero(&spec.Logging.Level, DefaultLogLevel)
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
