package reconcile

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// unknownCondition labels errors that belong to no step, such as a failed
// status write.
const unknownCondition = "UNKNOWN"

// Metrics holds the step metrics of one operator. A nil *Metrics records
// nothing.
type Metrics struct {
	duration *prometheus.HistogramVec
	errors   *prometheus.CounterVec
}

// NewMetrics registers `<prefix>_reconcile_duration_seconds` and
// `<prefix>_reconcile_errors_total` with the registerer. The labels are the
// step name and the condition type, both from closed sets, so that the number
// of series does not grow with the number of resources.
func NewMetrics(registerer prometheus.Registerer, prefix string) (*Metrics, error) {
	m := &Metrics{
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    prefix + "_reconcile_duration_seconds",
			Help:    "Time one sub-reconciler took in one pass, in seconds.",
			Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"sub_reconciler"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: prefix + "_reconcile_errors_total",
			Help: "Passes of a sub-reconciler that ended in an error.",
		}, []string{"sub_reconciler", "condition_type"}),
	}
	var err error
	if m.duration, err = Register(registerer, m.duration); err != nil {
		return nil, err
	}
	m.errors, err = Register(registerer, m.errors)
	return m, err
}

// Register adds the collector, or returns the equal one that an earlier
// controller of the process registered.
func Register[C prometheus.Collector](registerer prometheus.Registerer, collector C) (C, error) {
	err := registerer.Register(collector)
	if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := known.ExistingCollector.(C); ok {
			return existing, nil
		}
	}
	return collector, err
}

func (m *Metrics) observe(step, condition string, took time.Duration, failed bool) {
	if m == nil {
		return
	}
	m.duration.WithLabelValues(step).Observe(took.Seconds())
	if failed {
		m.errors.WithLabelValues(step, condition).Inc()
	}
}

func (m *Metrics) countUnmapped(step string) {
	if m != nil {
		m.errors.WithLabelValues(step, unknownCondition).Inc()
	}
}
