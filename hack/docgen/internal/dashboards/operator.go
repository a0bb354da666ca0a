// Package dashboards generates the Grafana dashboards of the operators from short
// descriptions of their panels.
package dashboards

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/c5c3/forge/internal/common/metric"
)

// Operator is what a dashboard has to know about an operator.
type Operator struct {
	// Name is the name of the operator without its suffix, such as "keystone".
	Name string
	// Kinds are the kinds of its resources. Most metrics are about the first one; the
	// others have no conditions but Ready.
	Kinds []string
	// Metrics are the metrics that it defines.
	Metrics []metric.Definition
}

//go:embed common.yaml
var common string

// source is the content of common.yaml, or the panels of one operator.
type source struct {
	Rows   []row   `json:"rows,omitempty"`
	Panels []panel `json:"panels,omitempty"`
}

type row struct {
	Title  string  `json:"title"`
	Panels []panel `json:"panels"`
}

// panel describes a panel, or stands for all panels that only one operator has.
type panel struct {
	Own bool `json:"own,omitempty"`

	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	// Type is a panel type of Grafana; by default "timeseries".
	Type string `json:"type,omitempty"`
	// Unit is a unit of Grafana; by default "short".
	Unit string `json:"unit,omitempty"`
	// Width and Height are in units of Grafana's grid, which has 24 columns; by default 12
	// and 8.
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`
	// Negative shows values below zero.
	Negative bool `json:"negative,omitempty"`
	// Colors are those of values below 1, and from 1 on.
	Colors []string `json:"colors,omitempty"`
	// Texts replace values.
	Texts   map[string]text `json:"texts,omitempty"`
	Queries []query         `json:"queries,omitempty"`
}

type text struct {
	Text  string `json:"text"`
	Color string `json:"color,omitempty"`
}

type query struct {
	Expr   string `json:"expr"`
	Legend string `json:"legend,omitempty"`
}

// Write returns the dashboard of the operator, in Grafana's format. own are the panels that
// only this operator has, in the format of those in common.yaml. It fails if they are not in
// that format, or if one of them asks for a metric that the operator does not define.
func (o Operator) Write(own []byte) ([]byte, error) {
	var all, its source
	if err := yaml.UnmarshalStrict([]byte(o.replacer().Replace(common)), &all); err != nil {
		return nil, fmt.Errorf("common.yaml: %w", err)
	}
	if err := yaml.UnmarshalStrict(own, &its); err != nil {
		return nil, err
	}
	for _, p := range its.Panels {
		for _, q := range p.Queries {
			if name := o.undefined(q.Expr); name != "" {
				return nil, fmt.Errorf("panel %q asks for %s, which the operator does not define", p.Title, name)
			}
		}
	}
	d := newDashboard(o)
	for _, r := range all.Rows {
		d.addRow(r.Title)
		for _, p := range r.Panels {
			if p.Own {
				d.addPanels(its.Panels)
				continue
			}
			p.Queries = slices.DeleteFunc(p.Queries, func(q query) bool { return o.undefined(q.Expr) != "" })
			if len(p.Queries) > 0 {
				d.addPanels([]panel{p})
			}
		}
	}
	return d.encode()
}

// replacer replaces the words of common.yaml.
func (o Operator) replacer() *strings.Replacer {
	kinds := o.Kinds[0] + "s"
	condition := o.prefix() + "_resource_condition_transition_timestamp_seconds"
	unready := condition + `{type!~"Ready|Reconciling|Stalled", status!="True", namespace=~"$namespace"}`
	if len(o.Kinds) > 1 {
		kinds = "Resources"
		unready = fmt.Sprintf(`(%s or %s{kind!=%q, type="Ready", status!="True", namespace=~"$namespace"})`, unready, condition, o.Kinds[0])
	}
	return strings.NewReplacer(
		"METRIC", o.prefix(), "RESOURCE", strings.ToLower(o.Kinds[0]), "KINDS", kinds, "LEASE", o.Name+".openstack.c5c3.io",
		"CONTROLLERS", strings.ToLower(strings.Join(o.Kinds, "|")), "UNREADY", unready,
	)
}

var words = regexp.MustCompile(`[a-z_][a-z0-9_]*`)

func (o Operator) prefix() string { return o.Name + "_operator" }

// undefined returns the metric of the operator that a query asks for although the operator
// does not define it, "" if there is none.
func (o Operator) undefined(query string) string {
	for _, name := range words.FindAllString(query, -1) {
		if !strings.HasPrefix(name, o.prefix()+"_") {
			continue
		}
		defined := slices.ContainsFunc(o.Metrics, func(d metric.Definition) bool { return slices.Contains(metric.Series(d.Name), name) })
		if !defined {
			return name
		}
	}
	return ""
}
