package tls

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"

	"github.com/c5c3/forge/internal/common/metric"
)

// Metrics export from when and until when the certificates of resources are
// valid.
type Metrics struct{ start, end *metric.Times }

// NewMetrics registers the metrics, or reuses those that an earlier controller
// of the process registered. Their labels are the resource's name, its
// namespace and the certificate.
func NewMetrics(registerer prometheus.Registerer, start, end metric.Definition) (*Metrics, error) {
	from, errStart := metric.NewTimes(registerer, start, metric.Timestamp)
	until, errEnd := metric.NewTimes(registerer, end, metric.Timestamp)
	return &Metrics{start: from, end: until}, errors.Join(errStart, errEnd)
}

// Set records the validity of a PEM certificate. It ignores a text without one.
func (m *Metrics) Set(owner types.NamespacedName, certificate string, text []byte) {
	start, end, ok := Validity(text)
	if m == nil || !ok {
		return
	}
	m.start.Set(owner, certificate, start)
	m.end.Set(owner, certificate, end)
}

// Forget removes the series of a resource that was deleted or no longer has
// certificates.
func (m *Metrics) Forget(owner types.NamespacedName) {
	if m == nil {
		return
	}
	m.start.Forget(owner)
	m.end.Forget(owner)
}
