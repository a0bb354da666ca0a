package reconcile

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/c5c3/forge/internal/common/metric"
)

// unknownCondition labels errors that belong to no step, such as a failed
// status write.
const unknownCondition = "UNKNOWN"

var (
	labelStep          = metric.Label{Name: "sub_reconciler", Meaning: "name of the step"}
	labelConditionType = metric.Label{
		Name: "condition_type", Meaning: "condition that the step owns, `" + unknownCondition + "` for an error of no step",
	}
)

// MetricDefinitions are the metrics that every operator with the prefix has.
func MetricDefinitions(prefix string) []metric.Definition {
	return []metric.Definition{
		durationDefinition(prefix), errorsDefinition(prefix), conditionDefinition(prefix), transitionDefinition(prefix),
	}
}

func durationDefinition(prefix string) metric.Definition {
	return metric.Definition{
		Name: prefix + "_reconcile_duration_seconds", Type: metric.Histogram,
		Help:    "Time one sub-reconciler took in one pass, in seconds.",
		Labels:  []metric.Label{labelStep},
		Buckets: []float64{.01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}
}

func errorsDefinition(prefix string) metric.Definition {
	return metric.Definition{
		Name: prefix + "_reconcile_errors_total", Type: metric.Counter,
		Help:   "Passes of a sub-reconciler that ended in an error and are retried; waiting for a user is not an error.",
		Labels: []metric.Label{labelStep, labelConditionType},
	}
}

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
	if m.duration, err = metric.Register(registerer, durationDefinition(prefix).NewHistogram()); err != nil {
		return nil, err
	}
	m.errors, err = metric.Register(registerer, errorsDefinition(prefix).NewCounter())
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
		m.errors.WithLabelValues(step, unknownCondition).Inc()
	}
}
