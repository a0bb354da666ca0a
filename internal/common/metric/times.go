package metric

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Age returns the seconds between at and now. A time in the future, which
// remains after a clock was set back, has age 0.
func Age(at, now time.Time) float64 { return max(now.Sub(at).Seconds(), 0) }

// Timestamp returns at as Unix time.
func Timestamp(at, _ time.Time) float64 { return float64(at.Unix()) }

// Times is a gauge of points in time. Values are computed on scrape, so an age
// keeps growing while the operator is idle.
type Times struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	desc  *prometheus.Desc
	value func(at, now time.Time) float64

	mu    sync.Mutex
	times map[types.NamespacedName]map[string]time.Time
}

var _ prometheus.Collector = (*Times)(nil)

// NewTimes registers a gauge that derives its values from times with the given
// function. The definition must have three labels, in this order: the name of a
// resource, its namespace, and which of the resource's times it is.
func NewTimes(registerer prometheus.Registerer, d Definition, value func(at, now time.Time) float64) (*Times, error) {
	return Register(registerer, &Times{desc: d.Desc(nil), value: value, times: map[types.NamespacedName]map[string]time.Time{}})
}

// Set records one of the resource's times.
func (t *Times) Set(resource types.NamespacedName, which string, at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.times[resource] == nil {
		t.times[resource] = map[string]time.Time{}
	}
	t.times[resource][which] = at
}

// Get returns one of the resource's times.
func (t *Times) Get(resource types.NamespacedName, which string) (at time.Time, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at, ok = t.times[resource][which]
	return at, ok
}

// Unset removes one series, for example when a rotation is disabled.
func (t *Times) Unset(resource types.NamespacedName, which string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.times[resource], which)
}

// Forget removes all series of a resource.
func (t *Times) Forget(resource types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.times, resource)
}

// Describe implements [prometheus.Collector].
func (t *Times) Describe(descs chan<- *prometheus.Desc) { descs <- t.desc }

// Collect implements [prometheus.Collector].
func (t *Times) Collect(series chan<- prometheus.Metric) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.Now != nil {
		now = t.Now()
	}
	for resource, times := range t.times {
		for which, at := range times {
			series <- prometheus.MustNewConstMetric(t.desc, prometheus.GaugeValue, t.value(at, now), resource.Name, resource.Namespace, which)
		}
	}
}
