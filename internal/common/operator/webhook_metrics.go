package operator

import (
	"crypto/x509"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/cert"

	"github.com/c5c3/forge/internal/common/metric"
)

// metricsPrefix returns the prefix of the names of an operator's metrics.
func metricsPrefix(operator string) string { return strings.ReplaceAll(operator, "-", "_") }

// certificateExporter exports the expiry of the webhook certificate. Without
// a certificate there is no series.
type certificateExporter struct {
	start, expiration *prometheus.Desc
	// served returns the certificate in use, nil if there is none.
	served func() *x509.Certificate
}

var _ prometheus.Collector = (*certificateExporter)(nil)

func newCertificateExporter(operator string, served func() *x509.Certificate) *certificateExporter {
	definitions := metric.Webhooks(metricsPrefix(operator))
	return &certificateExporter{start: definitions[0].Desc(nil), expiration: definitions[1].Desc(nil), served: served}
}

// Describe implements [prometheus.Collector].
func (e *certificateExporter) Describe(descs chan<- *prometheus.Desc) {
	descs <- e.start
	descs <- e.expiration
}

// Collect implements [prometheus.Collector].
func (e *certificateExporter) Collect(series chan<- prometheus.Metric) {
	served := e.served()
	if served == nil {
		return
	}
	export := func(desc *prometheus.Desc, at time.Time) {
		series <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, metric.Timestamp(at, time.Time{}))
	}
	export(e.start, served.NotBefore)
	export(e.expiration, served.NotAfter)
}

// certificateIn returns the certificate that the webhook server reads from a folder.
func certificateIn(folder string) func() *x509.Certificate {
	return func() *x509.Certificate {
		chain, err := cert.CertsFromFile(filepath.Join(folder, "tls.crt"))
		if err != nil {
			// The operator is unready in that case, which is more visible.
			return nil
		}
		return chain[0]
	}
}
