package rotation

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Ages is the metric that tells how long ago keys and passwords were last
// rotated. The age is computed when it is scraped, so that it also grows while
// the operator has nothing to do.
type Ages struct {
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	desc *prometheus.Desc

	mu    sync.Mutex
	since map[types.NamespacedName]map[string]time.Time
}

// NewAges registers `<prefix>_key_rotation_age_seconds` with the labels
// nameLabel, namespace and key_type.
func NewAges(registerer prometheus.Registerer, prefix, nameLabel string) (*Ages, error) {
	ages := &Ages{
		desc: prometheus.NewDesc(prefix+"_key_rotation_age_seconds",
			"Time since the key or password in use was rotated in, in seconds; since it was made when it never was.",
			[]string{nameLabel, "namespace", "key_type"}, nil),
		since: map[types.NamespacedName]map[string]time.Time{},
	}
	err := registerer.Register(ages)
	if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := known.ExistingCollector.(*Ages); ok {
			return existing, nil
		}
	}
	return ages, err
}

// Set records since when what keyType stands for is in use.
func (a *Ages) Set(resource types.NamespacedName, keyType string, since time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since[resource] == nil {
		a.since[resource] = map[string]time.Time{}
	}
	a.since[resource][keyType] = since
}

// Unset ends one series, such as that of a rotation that was turned off.
func (a *Ages) Unset(resource types.NamespacedName, keyType string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.since[resource], keyType)
}

// Forget ends all series of a resource.
func (a *Ages) Forget(resource types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.since, resource)
}

// Describe implements prometheus.Collector.
func (a *Ages) Describe(descs chan<- *prometheus.Desc) { descs <- a.desc }

// Collect implements prometheus.Collector. A time in the future, which a clock
// that was set back leaves behind, counts as now.
func (a *Ages) Collect(metrics chan<- prometheus.Metric) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	if a.Now != nil {
		now = a.Now()
	}
	for resource, types := range a.since {
		for keyType, since := range types {
			age := max(now.Sub(since).Seconds(), 0)
			metrics <- prometheus.MustNewConstMetric(a.desc, prometheus.GaugeValue, age, resource.Name, resource.Namespace, keyType)
		}
	}
}
