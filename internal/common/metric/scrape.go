package metric

import (
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Scrape makes the series of gauges that are computed for one scrape. The registry holds all
// series of a scrape at the same time, more than sixty for each resource, so they share equal
// labels and values. The zero value is ready for use by one goroutine.
type Scrape struct {
	labels map[[2]string]*dto.LabelPair
	values map[float64]*dto.Gauge
}

// Gauge returns one series of the gauge that d defines and desc describes. The values are
// those of all labels of d in their order, constant ones included.
func (s *Scrape) Gauge(d Definition, desc *prometheus.Desc, value float64, values ...string) prometheus.Metric {
	labels := make([]*dto.LabelPair, len(values))
	for i, value := range values {
		labels[i] = s.label(d.Labels[i].Name, value)
	}
	// The registry expects labels in this order.
	slices.SortFunc(labels, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
	return &series{desc: desc, labels: labels, gauge: s.gauge(value)}
}

func (s *Scrape) label(name, value string) *dto.LabelPair {
	known, ok := s.labels[[2]string{name, value}]
	if !ok {
		if s.labels == nil {
			s.labels = map[[2]string]*dto.LabelPair{}
		}
		known = &dto.LabelPair{Name: new(name), Value: new(value)}
		s.labels[[2]string{name, value}] = known
	}
	return known
}

func (s *Scrape) gauge(value float64) *dto.Gauge {
	known, ok := s.values[value]
	if !ok {
		if s.values == nil {
			s.values = map[float64]*dto.Gauge{}
		}
		known = &dto.Gauge{Value: new(value)}
		s.values[value] = known
	}
	return known
}

// series is one series of a scrape.
type series struct {
	desc   *prometheus.Desc
	labels []*dto.LabelPair
	gauge  *dto.Gauge
}

// Desc implements [prometheus.Metric].
func (s *series) Desc() *prometheus.Desc { return s.desc }

// Write implements [prometheus.Metric].
func (s *series) Write(out *dto.Metric) error {
	out.Label, out.Gauge = s.labels, s.gauge
	return nil
}
