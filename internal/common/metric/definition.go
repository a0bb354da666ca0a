// Package metric defines each metric once: both the collectors and the
// reference of the metrics are generated from its definition.
package metric

import (
	"errors"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
)

// Type is the type of a metric, as Prometheus knows it.
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
	// Meaning describes the values, as a phrase without a full stop.
	Meaning string
}

// The labels that identify the resource a series belongs to.
var (
	Kind      = Label{Name: "kind", Meaning: "kind of the resource"}
	Namespace = Label{Name: "namespace", Meaning: "namespace of the resource"}
	Name      = Label{Name: "name", Meaning: "name of the resource"}
)

// Definition holds what all series of a metric have in common.
type Definition struct {
	// Name is the full name, including the unit as its suffix.
	Name string
	// Type is the type of the metric.
	Type Type
	// Help explains what a value means, as a sentence. Prometheus shows it as
	// well.
	Help string
	// Labels distinguish the series of the metric.
	Labels []Label
	// Buckets are the upper bounds of a histogram.
	Buckets []float64
}

// Series returns the names by which queries may ask for a metric: its own, and those of the
// series of a histogram.
func Series(name string) []string {
	return []string{name, name + "_bucket", name + "_count", name + "_sum"}
}

// LabelNames returns the names of the labels, in order.
func (d Definition) LabelNames() []string {
	names := make([]string, 0, len(d.Labels))
	for _, label := range d.Labels {
		names = append(names, label.Name)
	}
	return names
}

// Desc returns the description of the series for which the given labels are
// constant.
func (d Definition) Desc(constant prometheus.Labels) *prometheus.Desc {
	variable := slices.DeleteFunc(d.LabelNames(), func(name string) bool { return constant[name] != "" })
	return prometheus.NewDesc(d.Name, d.Help, variable, constant)
}

// NewCounter returns a counter that has no series yet.
func (d Definition) NewCounter() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: d.Name, Help: d.Help}, d.LabelNames())
}

// NewHistogram returns a histogram that has no series yet.
func (d Definition) NewHistogram() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: d.Name, Help: d.Help, Buckets: d.Buckets}, d.LabelNames())
}

// Register registers the collector. If an earlier controller of the process has
// registered an equal one, Register returns that one instead.
func Register[C prometheus.Collector](registerer prometheus.Registerer, collector C) (C, error) {
	err := registerer.Register(collector)
	if known, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := known.ExistingCollector.(C); ok {
			return existing, nil
		}
	}
	return collector, err
}
