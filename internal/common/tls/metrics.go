package tls

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/metric"
)

// Metrics are the times from which and until which certificates of resources are valid.
type Metrics struct{ start, end *metric.Times }

// NewMetrics registers the metrics, or finds those of an earlier controller of the
// process. Their labels are the name of the resource, its namespace and the certificate.
func NewMetrics(registerer prometheus.Registerer, start, end metric.Definition) (*Metrics, error) {
	from, errStart := metric.NewTimes(registerer, start, metric.Timestamp)
	until, errEnd := metric.NewTimes(registerer, end, metric.Timestamp)
	return &Metrics{start: from, end: until}, errors.Join(errStart, errEnd)
}

// Set records the validity of a certificate in PEM form. Nothing is recorded of a text
// that holds none.
func (m *Metrics) Set(owner types.NamespacedName, certificate string, text []byte) {
	start, end, ok := Validity(text)
	if m == nil || !ok {
		return
	}
	m.start.Set(owner, certificate, start)
	m.end.Set(owner, certificate, end)
}

// Forget drops the series of a resource that is gone, or has no certificates any more.
func (m *Metrics) Forget(owner types.NamespacedName) {
	if m == nil {
		return
	}
	m.start.Forget(owner)
	m.end.Forget(owner)
}
