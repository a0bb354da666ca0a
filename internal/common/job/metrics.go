package job

import (
	"github.com/prometheus/client_golang/prometheus"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/metric"
)

// Metrics count finished Jobs of resources.
type Metrics struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	owner    string
}

// NewMetrics registers the metrics, or reuses those of an earlier controller in the
// process. The labels of total are the name of the resource, its namespace and the
// result; those of duration are the first two.
func NewMetrics(registerer prometheus.Registerer, total, duration metric.Definition) (*Metrics, error) {
	m := &Metrics{owner: total.Labels[0].Name}
	var err error
	if m.total, err = metric.Register(registerer, total.NewCounter()); err != nil {
		return nil, err
	}
	m.duration, err = metric.Register(registerer, duration.NewHistogram())
	return m, err
}

// Count counts a finished Job of the resource.
func (m *Metrics) Count(owner types.NamespacedName, ended *batchv1.Job) {
	result := "failed"
	_, succeeded, at := Ended(ended)
	if succeeded {
		result = "succeeded"
	}
	m.total.WithLabelValues(owner.Name, owner.Namespace, result).Inc()
	m.duration.WithLabelValues(owner.Name, owner.Namespace).Observe(at.Sub(ended.CreationTimestamp.Time).Seconds())
}

// Forget drops the series of a deleted resource. Without metrics it does nothing.
func (m *Metrics) Forget(owner types.NamespacedName) {
	if m == nil {
		return
	}
	labels := prometheus.Labels{m.owner: owner.Name, metric.Namespace.Name: owner.Namespace}
	m.total.DeletePartialMatch(labels)
	m.duration.DeletePartialMatch(labels)
}
