package types

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// The values that the parts of an API have when they are not set.
const (
	DefaultReplicas int32 = 3

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

// DefaultCPULimit is the CPU limit of an API pod for which the spec asks for no
// resources.
var DefaultCPULimit = resource.MustParse("500m")

// SetIfZero fills in the default of a field that is not set.
func SetIfZero[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// SetDefaults fills in what the schema would, for objects that no API server
// has completed. Doing it twice changes nothing more.
func (c *CacheSpec) SetDefaults() {
	SetIfZero(&c.Backend, DefaultCacheBackend)
	SetIfZero(&c.Replicas, DefaultCacheReplicas)
}

// SetDefaults fills in what the schema would, for objects that no API server
// has completed. Doing it twice changes nothing more.
func (d *DatabaseSpec) SetDefaults() {
	if d.TLS != nil {
		SetIfZero(&d.TLS.Mode, DatabaseTLSRequire)
	}
}

// SetDefaults fills in what the schema would; an application server that is not
// described at all keeps no values of its own.
func (u *UWSGISpec) SetDefaults() {
	if u == nil {
		return
	}
	SetIfZero(&u.Processes, DefaultUWSGIProcesses)
	SetIfZero(&u.Threads, DefaultUWSGIThreads)
	SetIfZero(&u.HTTPKeepAlive, new(DefaultUWSGIHTTPKeepAlive))
}

// SetLoggingDefaults fills in what the schema would. Doing it twice changes nothing
// more.
func SetLoggingDefaults(logging **LoggingSpec) {
	if *logging == nil {
		*logging = &LoggingSpec{}
	}
	SetIfZero(&(*logging).Format, DefaultLogFormat)
	SetIfZero(&(*logging).Level, DefaultLogLevel)
}

// SetResourcesDefaults gives an API pod for which the spec asks for no resources what a
// pod with the default number of workers needs.
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
