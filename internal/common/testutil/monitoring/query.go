// Package monitoring checks alert rules and dashboards against the existing metrics.
// promtool checks whether a query is well formed.
package monitoring

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	_ "sigs.k8s.io/controller-runtime/pkg/controller" // It registers the metrics of controllers.
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/c5c3/forge/internal/common/metric"
)

// Metrics maps the names of metrics to their label names.
type Metrics map[string][]string

// targetLabels are those that Prometheus adds to every series.
var targetLabels = []string{"job", "instance", "namespace", "pod", "service", "container", "endpoint"}

// Known returns the metrics of the definitions, those that controller-runtime
// exports for every operator, and those that Prometheus adds about its targets.
func Known(definitions []metric.Definition) Metrics {
	known := Metrics{"up": nil}
	for _, d := range definitions {
		known.add(d.Name, d.LabelNames())
	}
	registry, ok := ctrlmetrics.Registry.(prometheus.Collector)
	if !ok {
		panic("the registry of controller-runtime does not describe its metrics")
	}
	descs := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(descs)
		close(descs)
	}()
	for desc := range descs {
		// A Desc exposes its parts only as text.
		if parts := descText.FindStringSubmatch(desc.String()); parts != nil {
			known.add(parts[1], strings.FieldsFunc(parts[2], func(r rune) bool { return r == ',' || r == ' ' }))
		}
	}
	return known
}

var descText = regexp.MustCompile(`fqName: "([^"]+)".*variableLabels: \{([^}]*)\}`)

// add adds a metric, for a histogram also under the names of its series.
func (m Metrics) add(name string, labels []string) {
	for _, series := range metric.Series(name) {
		m[series] = labels
	}
	m[name+"_bucket"] = append(slices.Clone(labels), "le")
}

var (
	text     = regexp.MustCompile("\"[^\"]*\"|'[^']*'|`[^`]*`")
	window   = regexp.MustCompile(`\[[^\]]*\]`)
	number   = regexp.MustCompile(`\b[0-9][0-9a-zA-Z.]*`)
	grouping = regexp.MustCompile(`\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)`)
	selector = regexp.MustCompile(`([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(\(|\{[^}]*\})?`)
	matcher  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)`)
	word     = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*`)
	keywords = []string{"and", "or", "unless", "bool", "offset", "by", "without", "on", "ignoring", "group_left", "group_right", "inf", "nan"}
)

// Problems reports which metrics and labels of a query do not exist, and whether it queries
// no metric at all.
func (m Metrics) Problems(query string) []string {
	var problems, labels, grouped []string
	rest := number.ReplaceAllString(window.ReplaceAllString(text.ReplaceAllString(query, `""`), ""), "0")
	for _, list := range grouping.FindAllStringSubmatch(rest, -1) {
		grouped = append(grouped, word.FindAllString(list[1], -1)...)
	}
	asked := false
	for _, found := range selector.FindAllStringSubmatch(grouping.ReplaceAllString(rest, ""), -1) {
		name, matchers := found[1], found[2]
		if matchers == "(" || slices.Contains(keywords, strings.ToLower(name)) {
			continue
		}
		asked = true
		own, known := m[name]
		if !known {
			problems = append(problems, fmt.Sprintf("there is no metric %s", name))
			continue
		}
		own = append(slices.Clone(own), targetLabels...)
		for _, match := range matcher.FindAllStringSubmatch(matchers, -1) {
			if !slices.Contains(own, match[1]) {
				problems = append(problems, fmt.Sprintf("metric %s has no label %s", name, match[1]))
			}
		}
		labels = append(labels, own...)
	}
	for _, label := range grouped {
		if !slices.Contains(labels, label) {
			problems = append(problems, fmt.Sprintf("no metric of the query has a label %s", label))
		}
	}
	if !asked {
		problems = append(problems, "the query asks for no metric")
	}
	return problems
}
