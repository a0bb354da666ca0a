package metric

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Age is the value of a time that tells how long ago it was, in seconds. A time in
// the future, which a clock that was set back leaves behind, counts as now.
func Age(at, now time.Time) float64 { return max(now.Sub(at).Seconds(), 0) }

// Timestamp is the value of a time that tells when it is, as Unix time.
func Timestamp(at, _ time.Time) float64 { return float64(at.Unix()) }

// Times is a gauge of points in time. Its values are computed when it is scraped,
// so that an age also grows while the operator has nothing to do.
type Times struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	desc  *prometheus.Desc
	value func(at, now time.Time) float64

	mu    sync.Mutex
	times map[types.NamespacedName]map[string]time.Time
}

var _ prometheus.Collector = (*Times)(nil)

// NewTimes registers a gauge whose value is what the function makes of a time. It
// must have three labels: for the name of a resource, for its namespace, and for
// which of the resource's times it is.
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

// Unset ends one series, such as that of a rotation that was turned off.
func (t *Times) Unset(resource types.NamespacedName, which string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.times[resource], which)
}

// Forget ends all series of a resource.
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
