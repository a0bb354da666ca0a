package dashboards

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
)

// columns is the width of Grafana's grid.
const columns = 24

// object is an object of JSON. Its keys are written in alphabetical order.
type object map[string]any

// prometheus is the data source that the user of the dashboard selects.
var prometheus = object{"type": "prometheus", "uid": "${datasource}"}

// dashboard is a dashboard that panels are added to, from left to right and from top to
// bottom.
type dashboard struct {
	operator Operator
	panels   []object
	x, y     int
	// height is that of the highest panel since the last line break.
	height int
}

func newDashboard(o Operator) *dashboard { return &dashboard{operator: o} }

func (d *dashboard) addRow(title string) {
	d.place(object{"title": title, "type": "row", "collapsed": false, "panels": []object{}}, columns, 1)
}

func (d *dashboard) addPanels(panels []panel) {
	for _, p := range panels {
		d.place(p.grafana(), cmp.Or(p.Width, 12), cmp.Or(p.Height, 8))
	}
}

// place gives a panel the next free place.
func (d *dashboard) place(p object, width, height int) {
	if d.x+width > columns {
		d.x, d.y, d.height = 0, d.y+d.height, 0
	}
	p["id"], p["gridPos"] = len(d.panels)+1, object{"x": d.x, "y": d.y, "w": width, "h": height}
	d.x, d.height = d.x+width, max(d.height, height)
	d.panels = append(d.panels, p)
}

// grafana returns the panel in Grafana's format, without its place.
func (p panel) grafana() object {
	kind := cmp.Or(p.Type, "timeseries")
	defaults := object{"unit": cmp.Or(p.Unit, "short")}
	if kind == "timeseries" && !p.Negative {
		defaults["min"] = 0
	}
	if len(p.Colors) == 2 {
		defaults["thresholds"] = object{"mode": "absolute", "steps": []object{
			{"color": p.Colors[0], "value": nil}, {"color": p.Colors[1], "value": 1},
		}}
	}
	if len(p.Texts) > 0 {
		defaults["mappings"] = []object{{"type": "value", "options": p.Texts}}
	}
	panel := object{
		"title": p.Title, "description": p.Description, "type": kind, "datasource": prometheus,
		"fieldConfig": object{"defaults": defaults, "overrides": []object{}}, "options": options[kind], "targets": p.targets(kind),
	}
	if kind == "table" {
		panel["transformations"] = []object{{"id": "organize", "options": object{"excludeByName": hidden}}}
	}
	return panel
}

var legend = object{"displayMode": "list", "placement": "bottom"}

// options are the options of each type of panel.
var options = map[string]object{
	"stat": {
		"colorMode": "background", "graphMode": "none", "textMode": "auto",
		"reduceOptions": object{"calcs": []string{"lastNotNull"}, "values": false},
	},
	"table":          {"showHeader": true},
	"state-timeline": {"legend": legend, "mergeValues": true, "showValue": "never"},
	"timeseries":     {"legend": legend, "tooltip": object{"mode": "multi"}},
}

// hidden are the columns that a table does not show.
var hidden = object{
	"Time": true, "job": true, "instance": true, "pod": true, "service": true, "container": true, "endpoint": true,
	"__name__": true, "kind": true,
}

func (p panel) targets(kind string) []object {
	targets := make([]object, 0, len(p.Queries))
	for i, q := range p.Queries {
		target := object{"refId": string(rune('A' + i)), "datasource": prometheus, "expr": q.Expr, "legendFormat": q.Legend}
		switch kind {
		case "table":
			target["format"], target["instant"] = "table", true
		case "stat":
			target["instant"] = true
		}
		targets = append(targets, target)
	}
	return targets
}

// encode returns the whole dashboard.
func (d *dashboard) encode() ([]byte, error) {
	o := d.operator
	var content bytes.Buffer
	encoder := json.NewEncoder(&content)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(object{
		"uid": o.Name + "-operator", "title": o.Kinds[0] + " Operator", "tags": []string{"openstack", strings.ToLower(o.Kinds[0])},
		"schemaVersion": 39, "editable": true, "refresh": "30s", "timezone": "browser",
		"time": object{"from": "now-6h", "to": "now"},
		"templating": object{"list": []object{
			{"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus", "current": object{}},
			variable("namespace", "Namespace", object{
				"query": "label_values(" + o.prefix() + "_resource_condition, namespace)", "refId": "namespaces",
			}, ".*"),
			variable("job", "Job", object{
				"query": "label_values(" + o.prefix() + "_reconcile_duration_seconds_count, job)", "refId": "jobs",
			}, ""),
		}},
		"panels": d.panels,
	})
	return content.Bytes(), err
}

// variable returns a variable of which the user selects some values, at first all. all is
// the regular expression that stands for all of them, "" for a list.
func variable(name, label string, query object, all string) object {
	v := object{
		"name": name, "label": label, "type": "query", "datasource": prometheus, "refresh": 2, "includeAll": true, "multi": true,
		"query": query, "current": object{"text": "All", "value": "$__all"},
	}
	if all != "" {
		v["allValue"] = all
	}
	return v
}
