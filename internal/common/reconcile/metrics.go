package reconcile

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/c5c3/forge/internal/common/metric"
)

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
	m := &Metrics{}
	var err error
	if m.duration, err = metric.Register(registerer, metric.StepDuration(prefix).NewHistogram()); err != nil {
		return nil, err
	}
	m.errors, err = metric.Register(registerer, metric.StepErrors(prefix).NewCounter())
	return m, err
}

// Observe records one pass of a step. The engine calls it for the steps of a
// pipeline; a controller without a pipeline calls it itself.
func (m *Metrics) Observe(step, condition string, took time.Duration, failed bool) {
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
		m.errors.WithLabelValues(step, metric.NoCondition).Inc()
	}
}
