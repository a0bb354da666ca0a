// Package samples reads the series that a registry of metrics exports.
package samples

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// Of maps each series of the registry to its value; that of a histogram is the sum
// of its observations.
func Of(t testing.TB, registry prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := make([]string, 0, len(metric.GetLabel()))
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			value := metric.GetCounter().GetValue()
			if family.GetType() == dto.MetricType_HISTOGRAM {
				value = metric.GetHistogram().GetSampleSum()
			}
			got[family.GetName()+" "+strings.Join(labels, ",")] = value
		}
	}
	return got
}
