// Package metric says once what a metric is: collectors are made from
// definitions, and the reference of the metrics is written from the same ones.
package metric

import (
	"errors"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Type is how the values of a metric behave.
type Type string

// The types that the operators use.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Label is a label of a metric. Its values come from a closed set, or from the
// names of resources, so that the number of series is bounded.
type Label struct {
	// Name is the label's name.
	Name string
	// Meaning tells what its values are, as a sentence without an end.
	Meaning string
}

// The labels that tell whose metric it is.
var (
	Kind      = Label{Name: "kind", Meaning: "kind of the resource"}
	Namespace = Label{Name: "namespace", Meaning: "namespace of the resource"}
	Name      = Label{Name: "name", Meaning: "name of the resource"}
)

// Definition is everything that is the same for all series of a metric.
type Definition struct {
	// Name is the full name, with the unit at its end.
	Name string
	// Type is how its values behave.
	Type Type
	// Help tells what a value means, as a sentence. Prometheus shows it, too.
	Help string
	// Labels are what tells its series apart.
	Labels []Label
	// Buckets are the upper bounds of a histogram.
	Buckets []float64
}

// LabelNames returns the names of the labels, in order.
func (d Definition) LabelNames() []string {
	names := make([]string, 0, len(d.Labels))
	for _, label := range d.Labels {
		names = append(names, label.Name)
	}
	return names
}

// Desc describes the series in which some of the labels have a constant value.
func (d Definition) Desc(constant prometheus.Labels) *prometheus.Desc {
	variable := slices.DeleteFunc(d.LabelNames(), func(name string) bool { return constant[name] != "" })
	return prometheus.NewDesc(d.Name, d.Help, variable, constant)
}

// NewCounter returns a counter without any series yet.
func (d Definition) NewCounter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.LabelNames())
}

// NewHistogram returns a histogram without any series yet.
func (d Definition) NewHistogram() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.Buckets}, d.LabelNames())
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
