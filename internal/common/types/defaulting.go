package types

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Defaults of API fields that the shared types have in common.
const (
	DefaultReplicas int32 = 3

	DefaultUWSGIProcesses     int32 = 2
	DefaultUWSGIThreads       int32 = 1
	DefaultUWSGIHTTPKeepAlive       = true

	DefaultLogFormat = LogFormatText
	DefaultLogLevel  = LogLevelInfo
)

// Values that apply while a field is unset, in seconds. They are not written into the
// object, so that a later release may choose better ones.
const (
	DefaultTerminationGracePeriodSeconds int64 = 30
	DefaultPreStopSleepSeconds           int64 = 5
)

// DefaultCPULimit is the CPU limit of an API pod if the spec sets no resources.
var DefaultCPULimit = resource.MustParse("500m")

// SetIfZero sets a field that has the zero value to its default.
func SetIfZero[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// SetDefaults sets the defaults of the schema, for objects that no API server has
// defaulted. It is idempotent.
func (c *CacheSpec) SetDefaults() {
	SetIfZero(&c.Backend, DefaultCacheBackend)
	SetIfZero(&c.Replicas, DefaultCacheReplicas)
}

// SetDefaults sets the defaults of the schema, for objects that no API server has
// defaulted. It is idempotent.
func (d *DatabaseSpec) SetDefaults() {
	if d.TLS != nil {
		SetIfZero(&d.TLS.Mode, DatabaseTLSRequire)
	}
}

// SetDefaults sets the defaults of the schema. A nil spec stays nil.
func (u *UWSGISpec) SetDefaults() {
	if u == nil {
		return
	}
	SetIfZero(&u.Processes, DefaultUWSGIProcesses)
	SetIfZero(&u.Threads, DefaultUWSGIThreads)
	SetIfZero(&u.HTTPKeepAlive, new(DefaultUWSGIHTTPKeepAlive))
}

// SetLoggingDefaults sets the defaults of the schema. It is idempotent.
func SetLoggingDefaults(logging **LoggingSpec) {
	if *logging == nil {
		*logging = &LoggingSpec{}
	}
	SetIfZero(&(*logging).Format, DefaultLogFormat)
	SetIfZero(&(*logging).Level, DefaultLogLevel)
}

// SetResourcesDefaults sets what a pod with the default number of workers needs if the
// spec sets no resources.
func SetResourcesDefaults(resources **corev1.ResourceRequirements) {
	if *resources == nil {
		*resources = &corev1.ResourceRequirements{}
	}
	if len((*resources).Requests) > 0 || len((*resources).Limits) > 0 {
		return
	}
	(*resources).Requests = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("100m"),
		corev1.ResourceMemory: resource.MustParse("256Mi"),
	}
	(*resources).Limits = corev1.ResourceList{
		corev1.ResourceCPU:    DefaultCPULimit.DeepCopy(),
		corev1.ResourceMemory: resource.MustParse("512Mi"),
	}
}
